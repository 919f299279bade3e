// Wrong: as many bytes as the longest stop string has are always held back.
// Expect: stop.push("one <") == "one " was "o"
  size_t begin = 0, end = std::string::npos;  // of the string that is complete first
  for (const std::string& stop : strings_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  if (end != std::string::npos) {
    matched_ = true;
    return std::exchange(held_, "").substr(0, begin);
  }
  // The longest tail that is the beginning of a stop string stays.
  size_t keep = 0;
  for (const std::string& stop : strings_) {
    for (size_t length = std::min(held_.size(), stop.size() - 1); length > keep; --length) {
      keep = length;
    }
  }
  std::string certain = held_.substr(0, held_.size() - keep);
  held_.erase(0, certain.size());
  return certain;
