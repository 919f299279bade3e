// Wrong: a value that does not fit is cut off instead of refused.
// Expect: expected an error that says "i8"
  return std::visit(
      [&](auto number) {
        using Source = decltype(number);
        if constexpr (std::is_floating_point_v<Target>) {
          if constexpr (!std::is_floating_point_v<Source>) return false;
        } else if constexpr (!std::is_integral_v<Source> || std::is_same_v<Source, bool>) {
          return false;
        } else {
          static_cast<void>(number);
        }
        if constexpr (std::is_arithmetic_v<Source>) target = static_cast<Target>(number);
        return std::is_arithmetic_v<Source>;
      },
      value);
