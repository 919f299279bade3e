// Wrong: the start of a character is given up at once, so a character in two pieces is lost.
// Expect: decoder.push("a\xf0\x9f") == "a"
  tail_ += bytes;
  std::string_view rest = tail_;
  std::string text;
  while (!rest.empty()) {
    const size_t valid = utf8_valid_prefix(rest);
    text += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    const Start start = incomplete_start(rest);
    text += kReplacement;
    rest.remove_prefix(start.bytes);
  }
  tail_ = std::string(rest);
  return text;
