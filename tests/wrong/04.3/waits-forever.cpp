// Wrong: bytes that can become no character are held back like those that can.
// Expect: decoder.push("\xff") == kBad
  tail_ += bytes;
  std::string_view rest = tail_;
  std::string text;
  while (!rest.empty()) {
    const size_t valid = utf8_valid_prefix(rest);
    text += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    (void)incomplete_start;
    break;
  }
  tail_ = std::string(rest);
  return text;
