// Wrong: a hole between two tensors goes unnoticed.
// Expect: expected an error that says
  std::vector<uint32_t> by_data(entries_.size());
  std::iota(by_data.begin(), by_data.end(), 0u);
  std::sort(by_data.begin(), by_data.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(entries_[a].begin, entries_[a].end) < std::pair(entries_[b].begin, entries_[b].end);
  });
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
    covered = entry.end;
  }
  if (covered != data_bytes) {
    fail(path(), ": ", data_bytes - covered, " bytes behind the last tensor belong to none (offset ",
         data_offset_ + covered, ")");
  }
