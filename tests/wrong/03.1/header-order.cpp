// Wrong: the tensors are taken in the order of the header, not of their data.
// Expect: leave a hole behind 0
  std::vector<uint32_t> by_data(entries_.size());
  std::iota(by_data.begin(), by_data.end(), 0u);
  const uint64_t data_bytes = file_->bytes().size() - data_offset_;
  uint64_t covered = 0;
  for (uint32_t i : by_data) {
    const SafetensorsEntry& entry = entries_[i];
    const auto where = [&] { return path() + ": header: tensor " + rung::quoted(entry.name); };
    if (entry.end > data_bytes) {
      fail(where(), ": data_offsets end at ", entry.end, ", but the file holds ", data_bytes,
           " bytes of data (cut off?)");
    }
    if (entry.begin < covered) {
      fail(where(), ": data_offsets begin at ", entry.begin, ", inside the tensor before it, which ends at ",
           covered);
    }
    if (entry.begin > covered) {
      fail(where(), ": data_offsets begin at ", entry.begin, " and leave a hole behind ", covered);
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    fail(path(), ": ", data_bytes - covered, " bytes behind the last tensor belong to none (offset ",
         data_offset_ + covered, ")");
  }
