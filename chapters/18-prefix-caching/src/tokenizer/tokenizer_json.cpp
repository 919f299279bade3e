// tokenizer.json, read event by event.
#include "tokenizer/tokenizer_json.h"

#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

class TokenizerJson::Events : public JsonEvents {
 public:
  Events(TokenizerJson& json, size_t file_bytes)
      : json_(json),
        tree_(json.path_, file_bytes,
              {"model", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder"}) {}

  void begin(bool object) override {
    ++depth_;
    if (list_ == List::none) return tree_.begin(object);
    if (list_ == List::vocabulary ? depth_ != 3 || !object : object || depth_ > 4)
      fail_type("an object or array");
    if (depth_ == 4) pair_size_ = 0;
  }

  void end(bool object) override {
    if (list_ == List::none) {
      --depth_;
      return tree_.end(object);
    }
    if (depth_ == 4 && pair_size_ != 2) fail_type("an array of " + std::to_string(pair_size_));
    if (depth_-- == 3) list_ = List::none;
  }

  void key(std::string&& name) override {
    if (depth_ == 1) in_model_ = name == "model";
    if (list_ == List::vocabulary) {
      token_ = std::move(name);
    } else if (depth_ == 2 && in_model_ && name == "vocab") {
      start(List::vocabulary, seen_vocabulary_);
    } else if (depth_ == 2 && in_model_ && name == "merges") {
      start(List::merges, seen_merges_);
    } else {
      tree_.key(std::move(name));
    }
  }

  void scalar(JsonScalar&& value) override {
    if (list_ == List::none) return tree_.scalar(std::move(value));
    if (list_ == List::vocabulary) return add_token(value);
    if (depth_ < 3 || value.kind != JsonScalar::Kind::string || value.text.size() > UINT32_MAX) {
      fail_type(describe(value));
    }
    if (depth_ == 3) return add_merge(value.text);
    const uint32_t size = static_cast<uint32_t>(value.text.size());
    if (pair_size_ == 0) json_.merges_.push_back({json_.texts_.size(), size, 0});
    if (pair_size_ == 1) json_.merges_.back().right = size;
    if (++pair_size_ > 2) fail_type("an array of more than two");
    json_.texts_ += value.text;
  }

  JsonNode take_rest() { return std::move(tree_.root); }

 private:
  enum class List { none, vocabulary, merges };

  void start(List list, bool& seen) {
    if (seen) {
      fail(json_.path_, ": model has two members named \"", list == List::merges ? "merges" : "vocab",
           "\", expected each name once");
    }
    seen = true;
    list_ = list;
  }

  void add_token(const JsonScalar& value) {
    const bool id = depth_ == 3 && value.kind == JsonScalar::Kind::integer && !value.negative &&
                    value.magnitude < INT32_MAX && token_.size() <= UINT32_MAX;
    if (!id) fail_type(describe(value));
    json_.tokens_.push_back(
        {json_.texts_.size(), static_cast<uint32_t>(token_.size()), static_cast<int32_t>(value.magnitude)});
    json_.texts_ += token_;
  }

  void add_merge(const std::string& text) {
    const size_t space = text.find(' ');
    if (space == std::string::npos) fail_type(quoted(text));
    json_.merges_.push_back(
        {json_.texts_.size(), static_cast<uint32_t>(space), static_cast<uint32_t>(text.size() - space - 1)});
    json_.texts_.append(text, 0, space).append(text, space + 1);
  }

  [[noreturn]] void fail_type(const std::string& found) const {
    if (list_ == List::vocabulary) {
      if (depth_ <= 2)
        fail(json_.path_, ": model.vocab is ", found, ", expected an object of tokens and ids");
      fail(json_.path_, ": model.vocab[", quoted(token_), "] is ", found,
           ", expected a token id from 0 to 2147483646");
    }
    const size_t index = json_.merges_.size() - (depth_ == 4 && pair_size_ > 0 ? 1 : 0);
    fail(json_.path_, ": model.merges[", index, "] is ", found,
         ", expected two tokens: an array of two strings, or a string with a space between them");
  }

  TokenizerJson& json_;
  JsonTreeBuilder tree_;
  int depth_ = 0;
  bool in_model_ = false, seen_vocabulary_ = false, seen_merges_ = false;
  List list_ = List::none;
  std::string token_;
  int pair_size_ = 0;
};

TokenizerJson::TokenizerJson(const std::string& path) : path_(path) {
  const MappedFile file(path);
  Events events(*this, file.bytes().size());
  read_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path, 32, events);
  rest_ = events.take_rest();
}

std::vector<std::pair<std::string_view, int32_t>> TokenizerJson::vocabulary() const {
  std::vector<std::pair<std::string_view, int32_t>> result;
  result.reserve(tokens_.size());
  for (const Token& token : tokens_) {
    result.emplace_back(std::string_view(texts_).substr(token.begin, token.size), token.id);
  }
  return result;
}

std::vector<std::pair<std::string_view, std::string_view>> TokenizerJson::merges() const {
  std::vector<std::pair<std::string_view, std::string_view>> result;
  result.reserve(merges_.size());
  for (const TextPair& pair : merges_) {
    const std::string_view both = std::string_view(texts_).substr(pair.begin, size_t{pair.left} + pair.right);
    result.emplace_back(both.substr(0, pair.left), both.substr(pair.left));
  }
  return result;
}

}  // namespace rung
