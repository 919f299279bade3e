// Wrong: the length is read as 32 bits, so that four bytes of it stay in front of the text.
// Expect: == "general.name"
  const uint64_t start = offset_;
  const uint64_t length = read<uint32_t>(field);
  if (length > remaining()) {
    fail_at(start, field.text(), " is a string of ", length, " bytes, but only ", remaining(),
            " bytes of the file are left: it is damaged or cut off");
  }
  const Span<const uint8_t> text = take(length, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
