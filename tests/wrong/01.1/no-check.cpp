// Wrong: the length is not compared with what remains.
// Expect: expected an error that says "x.gguf: offset 0"
  const uint64_t length = read<uint64_t>(field);
  const Span<const uint8_t> text = take(length, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
