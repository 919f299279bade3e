// Wrong: the first token that ends on the way is taken, not the longest.
// Expect: shown(matcher, "<tool_call>") == "[2]"
  int32_t longest = -1;
  uint32_t node = 0;
  for (const char byte : text) {
    const auto next = edges_.find(edge(node, byte));
    if (next == edges_.end()) break;
    node = next->second;
    if (token_at_[node] >= 0) return &tokens_[token_at_[node]];
  }
  return longest < 0 ? nullptr : &tokens_[longest];
