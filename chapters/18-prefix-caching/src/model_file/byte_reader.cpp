// The checks of the cursor: each compares a number from the file with the bytes that remain.
#include "model_file/byte_reader.h"

namespace rung {

std::string Field::text() const {
  return std::string("the ") + name + (of.data() == nullptr ? "" : " of " + quoted(of));
}

Span<const uint8_t> ByteReader::take(uint64_t count, const Field& field) {
  if (count > remaining()) {
    fail_at(offset_, "the file ends inside ", field.text(), ": expected ", count, " bytes, found ",
            remaining());
  }
  const Span<const uint8_t> taken = bytes_.subspan(offset_, count);
  offset_ += count;
  return taken;
}

std::string_view ByteReader::read_string(const Field& field) {
  // BEGIN SOLUTION 01.1
  const uint64_t start = offset_;
  const uint64_t length = read<uint64_t>(field);
  if (length > remaining()) {
    fail_at(start, field.text(), " is a string of ", length, " bytes, but only ", remaining(),
            " bytes of the file are left: it is damaged or cut off");
  }
  const Span<const uint8_t> text = take(length, field);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
  // STUB: (void)field;
  // STUB: not_done("01.1");
  // END SOLUTION
}

void ByteReader::check_count(uint64_t count, uint64_t least_bytes, const Field& field) const {
  // BEGIN SOLUTION 01.2
  // Dividing cannot overflow, multiplying could.
  if (count > remaining() / least_bytes) {
    fail_at(offset_, field.text(), " is ", count, ", each of at least ", least_bytes, " bytes, but only ",
            remaining(), " bytes of the file are left: it is damaged or cut off");
  }
  // STUB: (void)count;
  // STUB: (void)least_bytes;
  // STUB: (void)field;
  // STUB: not_done("01.2");
  // END SOLUTION
}

}  // namespace rung
