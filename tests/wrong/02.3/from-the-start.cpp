// Wrong: offsets are taken from the start of the file instead of the data section.
// Expect: the first 164 of 259 bytes
  if (__builtin_add_overflow(uint64_t{0}, tensor.offset, &tensor.position) ||
      __builtin_add_overflow(tensor.position, tensor.bytes, &end) || end > file_bytes) {
    fail(reader.source(), ": tensor ", quoted(tensor.name), " has ", tensor.bytes, " bytes at offset ",
         tensor.offset, " of the data section, which starts at ", directory.data_offset,
         ", but the file has only ", file_bytes, " bytes: it is damaged or cut off");
  }
