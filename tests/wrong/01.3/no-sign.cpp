// Wrong: int64 -1 and uint64 2^64-1 are one pattern, and pass for each other.
// Expect: expected an error that says "i8"
  return std::visit(
      [&](auto number) {
        using Source = decltype(number);
        if constexpr (std::is_floating_point_v<Target>) {
          if constexpr (!std::is_floating_point_v<Source>) return false;
        } else if constexpr (!std::is_integral_v<Source> || std::is_same_v<Source, bool>) {
          return false;
        } else {
          // A cast that loses nothing comes back unchanged and keeps the sign.
          const Target candidate = static_cast<Target>(number);
          if (static_cast<Source>(candidate) != number) return false;
        }
        if constexpr (std::is_arithmetic_v<Source>) target = static_cast<Target>(number);
        return std::is_arithmetic_v<Source>;
      },
      value);
