// Wrong: the walk may end later than the longest token; only its last node is looked at.
// Expect: "a<tool_call><y"
  int32_t longest = -1;
  uint32_t node = 0;
  for (const char byte : text) {
    const auto next = edges_.find(edge(node, byte));
    if (next == edges_.end()) break;
    node = next->second;
    longest = token_at_[node];
  }
  return longest < 0 ? nullptr : &tokens_[longest];
