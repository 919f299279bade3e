// Wrong: a count that just fits is refused: >= instead of >.
// Expect: each of at least 8 bytes, but only 100 bytes
  // Dividing cannot overflow, multiplying could.
  if (count >= remaining() / least_bytes) {
    fail_at(offset_, field.text(), " is ", count, ", each of at least ", least_bytes, " bytes, but only ",
            remaining(), " bytes of the file are left: it is damaged or cut off");
  }
