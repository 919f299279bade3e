// Wrong: the sums wrap around, and a tensor far outside seems to lie inside.
// Expect: expected an error that says
  tensor.position = directory.data_offset + tensor.offset;
  end = tensor.position + tensor.bytes;
  if (end > file_bytes) {
    fail(reader.source(), ": tensor ", quoted(tensor.name), " has ", tensor.bytes, " bytes at offset ",
         tensor.offset, " of the data section, which starts at ", directory.data_offset,
         ", but the file has only ", file_bytes, " bytes: it is damaged or cut off");
  }
