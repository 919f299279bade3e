// Whole tokenizers against ids that other implementations computed: fixtures, SmolLM2, and three published
// vocabularies.
#include "tokenizer/tokenizer.h"

#include <chrono>
#include <iostream>

#include "model_file/gguf_file.h"
#include "model_file/model_file.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/token_references.h"
#include "tokenizer/vocabulary.h"

namespace rung {

using testing::Ids;
using testing::TokenCase;

namespace {

Tokenizer load_gguf(const std::string& path) {
  return load_gguf_tokenizer(GgufFile::open(path)->metadata());
}

void check_cases(const Tokenizer& tokenizer, const std::vector<TokenCase>& cases) {
  REQUIRE(cases.size() > 50);
  for (const TokenCase& expected : cases) {
    INFO(expected.text);
    CHECK(tokenizer.encode(expected.text, true, false) == expected.ids);
    CHECK(tokenizer.encode(expected.text, false, false) == expected.plain);
  }
}

// Published vocabularies are large; without them the test says so and passes.
bool skip(const std::string& path) {
  if (path.empty())
    WARN("skipped: run tests/reference/fetch_vocabularies.py (or ./run.sh for the default model)");
  return path.empty();
}

}  // namespace

TEST_CASE("fixtures' token ids equal transformers', from GGUF and from tokenizer.json", "[tokenizer]") {
  for (const std::string name : {"llama-rope3", "llama-untied", "llama-linear", "qwen2-bias", "qwen3"}) {
    for (const std::string& path : {name, name + ".gguf"}) {
      INFO(path);
      const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path(path)));
      CHECK(tokenizer.vocabulary() == 512);
      const std::vector<TokenCase> cases = testing::fixture_token_cases(name);
      check_cases(tokenizer, cases);
      for (const TokenCase& expected : cases) {
        INFO(expected.text);
        Ids with_bos = expected.with_bos;  // transformers puts a second BOS in front of one that is there
        if (with_bos.size() > 1 && with_bos[0] == tokenizer.bos() && with_bos[1] == with_bos[0]) {
          with_bos.erase(with_bos.begin());
        }
        CHECK(tokenizer.encode(expected.text) == with_bos);
        CHECK(tokenizer.decode(expected.ids, true) == expected.text);
      }
    }
  }
}

TEST_CASE("both formats of a model give the same ids for text that is not in normal form", "[tokenizer]") {
  const Tokenizer json = load_tokenizer(*open_model(testing::fixture_path("qwen3")));
  const Tokenizer gguf = load_tokenizer(*open_model(testing::fixture_path("qwen3.gguf")));
  const Ids composed = gguf.encode("caf\u00e9");
  CHECK(gguf.encode("cafe\u0301") == composed);
  CHECK(json.encode("cafe\u0301") == composed);
  const Tokenizer llama = load_tokenizer(*open_model(testing::fixture_path("llama-rope3.gguf")));
  CHECK(llama.encode("cafe\u0301") != llama.encode("caf\u00e9"));
}

TEST_CASE("BOS stands in front once", "[tokenizer]") {
  for (const char* name : {"llama-rope3", "llama-rope3.gguf"}) {
    const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path(name)));
    const int32_t bos = tokenizer.bos();
    REQUIRE(bos == tokenizer.find("<|begin_of_text|>"));
    REQUIRE(bos >= 0);
    CHECK(tokenizer.encode("") == Ids{bos});
    CHECK(tokenizer.encode("", true, false).empty());
    const Ids hi = tokenizer.encode("hi");
    CHECK(hi.front() == bos);
    CHECK(tokenizer.encode("<|begin_of_text|>hi") == hi);
    CHECK(tokenizer.encode("<|begin_of_text|><|begin_of_text|>") == Ids{bos, bos});
    // As plain text it is no BOS.
    const Ids plain = tokenizer.encode("<|begin_of_text|>", false);
    CHECK(plain.size() > 3);
    CHECK(plain[0] == bos);
    CHECK(plain[1] != bos);
  }
  const Tokenizer qwen = load_tokenizer(*open_model(testing::fixture_path("qwen3")));
  CHECK(qwen.encode("").empty());
  CHECK(qwen.bos() == -1);
}

TEST_CASE("special tokens are known by id, and no others", "[tokenizer]") {
  const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path("qwen3.gguf")));
  const int32_t end = tokenizer.find("<|im_end|>"), think = tokenizer.find("<think>");
  REQUIRE(end >= 0);
  REQUIRE(think >= 0);
  CHECK(tokenizer.find("the") == -1);
  CHECK(tokenizer.find("") == -1);
  CHECK(tokenizer.eos() == end);
  CHECK(tokenizer.is_end(end));
  CHECK(tokenizer.is_special(end));
  CHECK_FALSE(tokenizer.is_special(think));  // its text is part of the answer
  CHECK_FALSE(tokenizer.is_end(think));
  CHECK_FALSE(tokenizer.is_special(0));
  CHECK(tokenizer.is_special(511));  // a padding row
  CHECK(tokenizer.piece(end) == "<|im_end|>");
  CHECK(tokenizer.decode({0, end, think}) == std::string(tokenizer.piece(0)) + "<think>");
  CHECK(tokenizer.decode({0, end, think}, true) == std::string(tokenizer.piece(0)) + "<|im_end|><think>");
}

TEST_CASE("ids outside the vocabulary are refused", "[tokenizer]") {
  const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path("qwen3.gguf")));
  for (const int32_t id : {-1, 512, INT32_MAX, INT32_MIN}) {
    const std::string number = std::to_string(id);
    CHECK(testing::complaint(testing::error_of([&] { tokenizer.piece(id); }), {number, "511"}) == "");
    CHECK(testing::complaint(testing::error_of([&] { tokenizer.decode({0, id}); }), {number}) == "");
    CHECK(testing::complaint(testing::error_of([&] { tokenizer.is_end(id); }), {number}) == "");
    CHECK(testing::complaint(testing::error_of([&] { tokenizer.is_special(id); }), {number}) == "");
  }
}

TEST_CASE("bytes that are no UTF-8 go there and back", "[tokenizer]") {
  for (const char* name : {"llama-rope3.gguf", "llama-linear.gguf", "llama-untied.gguf", "qwen3.gguf"}) {
    const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path(name)));
    std::string all;
    for (int byte = 255; byte >= 0; --byte) all += static_cast<char>(byte);
    for (const std::string& text : {all, std::string("caf\xc3 \xff\xfe"), std::string("\xf0\x9f\x9a")}) {
      CHECK(tokenizer.decode(tokenizer.encode(text, false, false)) == text);
      CHECK(tokenizer.bytes_without_token(text) == 0);
    }
    // One token a byte, and the words around them as if they stood alone.
    Ids expected = tokenizer.encode("the", true, false);
    expected.push_back(tokenizer.encode("\xff", true, false).at(0));
    const Ids behind = tokenizer.encode(" river", true, false);
    expected.insert(expected.end(), behind.begin(), behind.end());
    CHECK(tokenizer.encode("the\xff river", true, false) == expected);
  }
}

TEST_CASE("SmolLM2's token ids equal those of tokenizers", "[tokenizer]") {
  const std::string path = testing::default_model_path();
  if (skip(path)) return;
  const Tokenizer tokenizer = load_gguf(path);
  check_cases(tokenizer, testing::token_cases("smollm"));
  CHECK(tokenizer.warnings().empty());
  CHECK(tokenizer.eos() == 2);
  CHECK(tokenizer.is_end(0));  // <|endoftext|>
  CHECK(tokenizer.encode("The capital of France is") == Ids{504, 3575, 282, 4649, 314});
}

TEST_CASE("bytes without a token are counted and left out", "[tokenizer]") {
  const std::string path = testing::default_model_path();
  if (skip(path)) return;
  const Tokenizer tokenizer = load_gguf(path);
  CHECK(tokenizer.bytes_without_token("a\x04"
                                      "b\xff") == 2);
  CHECK(tokenizer.decode(tokenizer.encode("a\x04"
                                          "b\xff")) == "ab");
  CHECK(tokenizer.bytes_without_token("plain") == 0);
}

TEST_CASE("published vocabularies give tokenizers' ids and llama.cpp's", "[tokenizer]") {
  const std::string separator = "\n__ggml_vocab_test__\n";
  for (const std::string name : {"gpt-2", "qwen2", "llama-bpe"}) {
    INFO(name);
    const std::string path = testing::vocabulary_path("ggml-vocab-" + name + ".gguf");
    if (skip(path)) return;
    const Tokenizer tokenizer = load_gguf(path);
    check_cases(tokenizer, testing::token_cases(name));

    const std::string texts = testing::read_file(path + ".inp"), ids = testing::read_file(path + ".out");
    int cases = 0;
    for (size_t text_at = 0, ids_at = 0; text_at < texts.size(); ++cases) {
      const size_t text_end = std::min(texts.find(separator, text_at), texts.size());
      const size_t ids_end = std::min(ids.find('\n', ids_at), ids.size());
      const std::string text = texts.substr(text_at, text_end - text_at);
      std::string got;
      for (const int32_t id : tokenizer.encode(text, false, false)) got += " " + std::to_string(id);
      INFO(text);
      CHECK(got == ids.substr(ids_at, ids_end - ids_at));
      text_at = text_end + separator.size();
      ids_at = ids_end + 1;
    }
    CHECK(cases == 46);
  }
}

TEST_CASE("a word of a million letters is encoded", "[tokenizer]") {
  const Tokenizer tokenizer = load_tokenizer(*open_model(testing::fixture_path("llama-rope3.gguf")));
  for (const char* letters : {"a", "ab", "the", "\u00e9", " ", "<"}) {
    std::string text;
    while (text.size() < 1000000) text += letters;
    const Ids ids = tokenizer.encode(text, true, false);
    CHECK(tokenizer.decode(ids) == text);
  }
}

}  // namespace rung
