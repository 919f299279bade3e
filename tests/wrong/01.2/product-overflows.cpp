// Wrong: count * least_bytes wraps around for a hostile count.
// Expect: expected an error that says
  if (count * least_bytes > remaining()) {
    fail_at(offset_, field.text(), " is ", count, ", each of at least ", least_bytes, " bytes, but only ",
            remaining(), " bytes of the file are left: it is damaged or cut off");
  }
