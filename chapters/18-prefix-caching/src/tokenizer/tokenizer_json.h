// tokenizer.json as a stream: vocabulary and merges go into compact lists, the small rest into a tree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/json_tree.h"

namespace rung {

class TokenizerJson {
 public:
  // Reads the file. Throws Error naming the file and the place.
  explicit TokenizerJson(const std::string& path);

  const std::string& path() const { return path_; }
  JsonPlace top() const { return JsonPlace(path_, rest_); }

  // model.vocab in the file's order, and model.merges. The views point into this object.
  std::vector<std::pair<std::string_view, int32_t>> vocabulary() const;
  std::vector<std::pair<std::string_view, std::string_view>> merges() const;

 private:
  struct Token {
    uint64_t begin;
    uint32_t size;
    int32_t id;
  };
  struct TextPair {
    uint64_t begin;
    uint32_t left, right;  // sizes
  };
  class Events;

  std::string path_;
  std::string texts_;  // of all tokens and merges, one after the other
  std::vector<Token> tokens_;
  std::vector<TextPair> merges_;
  JsonNode rest_;
};

}  // namespace rung
