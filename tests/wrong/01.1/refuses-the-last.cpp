// Wrong: a string that ends with the file is refused: >= instead of >.
// Expect: but only 1 bytes of the file are left
  const uint64_t start = offset_;
  const uint64_t length = read<uint64_t>(field);
  if (length >= remaining()) {
    fail_at(start, field.text(), " is a string of ", length, " bytes, but only ", remaining(),
            " bytes of the file are left: it is damaged or cut off");
  }
  const Span<const uint8_t> text = take(length, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
