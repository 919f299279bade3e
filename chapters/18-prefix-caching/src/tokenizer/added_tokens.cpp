// A trie of added tokens, and the cutting of a text at them.
#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "rung/error.h"
#include "tokenizer/characters.h"

namespace rung {

namespace {

uint64_t edge(uint32_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), token_at_{-1} {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    uint32_t node = 0;
    for (const char byte : tokens_[i].text) {
      const auto [next, is_new] =
          edges_.try_emplace(edge(node, byte), static_cast<uint32_t>(token_at_.size()));
      if (is_new) token_at_.push_back(-1);
      node = next->second;
    }
    token_at_[node] = static_cast<int32_t>(i);
    starts_with_[static_cast<unsigned char>(tokens_[i].text[0])] = true;
  }
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text) const {
  // BEGIN SOLUTION 04.2
  int32_t longest = -1;
  uint32_t node = 0;
  for (const char byte : text) {
    const auto next = edges_.find(edge(node, byte));
    if (next == edges_.end()) break;
    node = next->second;
    if (token_at_[node] >= 0) longest = token_at_[node];
  }
  return longest < 0 ? nullptr : &tokens_[longest];
  // STUB: (void)text;
  // STUB: not_done("04.2");
  // END SOLUTION
}

void AddedTokenMatcher::split(std::string_view text, const std::function<void(std::string_view)>& plain,
                              const std::function<void(const AddedToken&)>& added) const {
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const AddedToken* token =
        starts_with_[static_cast<unsigned char>(text[i])] ? longest_at(text.substr(i)) : nullptr;
    if (token == nullptr) {
      ++i;
      continue;
    }
    size_t begin = i, end = i + token->text.size();
    i = end;
    if (token->single_word && (ends_in_word(text.substr(0, begin)) || starts_in_word(text.substr(end))))
      continue;
    if (token->left_strip) begin -= white_space_at_end(text.substr(done, begin - done));
    if (token->right_strip) end += white_space_at_start(text.substr(end));
    if (begin > done) plain(text.substr(done, begin - done));
    added(*token);
    done = i = end;
  }
  if (done < text.size()) plain(text.substr(done));
}

}  // namespace rung
