// Finds tokens that stand for themselves in a text, whatever BPE would make of it: control tokens such as
// <|im_end|>, and others that were added to a vocabulary after training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rung {

struct AddedToken {
  std::string text;  // not empty
  int32_t id = -1;
  // The flags of tokenizer.json:
  bool left_strip = false;   // takes the white space before it along
  bool right_strip = false;  // takes the white space behind it along
  bool single_word = false;  // not where a letter, digit or underscore stands directly before or behind it
  bool normalized = false;   // is looked for in the normalized text
};

class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  // The longest token that stands at the start of text; null if none does.
  const AddedToken* longest_at(std::string_view text) const;

  // Calls plain for each stretch of text without an added token and added for each token, in order. Of tokens
  // that start at the same place the longest is taken; a token inside another that started earlier is not
  // seen.
  void split(std::string_view text, const std::function<void(std::string_view plain)>& plain,
             const std::function<void(const AddedToken&)>& added) const;

 private:
  // A trie: nodes are numbered from 0 (the root), and an edge is found by its node and byte.
  std::vector<AddedToken> tokens_;
  std::vector<int32_t> token_at_;  // by node: the token that ends there; -1 for none
  std::unordered_map<uint64_t, uint32_t> edges_;
  bool starts_with_[256] = {};  // is there a token that starts with this byte?
};

}  // namespace rung
