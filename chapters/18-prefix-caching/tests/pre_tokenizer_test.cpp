// How text is cut into words.
#include "tokenizer/pre_tokenizer.h"

#include "testing/catch.h"
#include "tests/error_text.h"

namespace rung {

namespace {

using Words = std::vector<std::string>;

Words split(PreTokenizerKind kind, std::string_view text) {
  Words words;
  PreTokenizer(kind).split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

constexpr PreTokenizerKind kKinds[] = {PreTokenizerKind::gpt2, PreTokenizerKind::smollm,
                                       PreTokenizerKind::qwen2, PreTokenizerKind::llama_bpe};

}  // namespace

TEST_CASE("the four pre-tokenizers cut digits differently", "[pre_tokenizer]") {
  CHECK(split(PreTokenizerKind::gpt2, "in 12345") == Words{"in", " 12345"});
  CHECK(split(PreTokenizerKind::smollm, "in 12345") == Words{"in", " ", "1", "2", "3", "4", "5"});
  CHECK(split(PreTokenizerKind::qwen2, "in 12345") == Words{"in", " ", "1", "2", "3", "4", "5"});
  CHECK(split(PreTokenizerKind::llama_bpe, "in 12345") == Words{"in", " ", "123", "45"});
}

TEST_CASE("contractions are cut off, in capitals only by the newer pre-tokenizers", "[pre_tokenizer]") {
  CHECK(split(PreTokenizerKind::gpt2, "I'm WE'LL") == Words{"I", "'m", " WE", "'", "LL"});
  CHECK(split(PreTokenizerKind::llama_bpe, "I'm WE'LL") == Words{"I", "'m", " WE", "'LL"});
}

TEST_CASE("the last space of several goes with the word behind", "[pre_tokenizer]") {
  for (const PreTokenizerKind kind : kKinds) CHECK(split(kind, "a   b") == Words{"a", "  ", " b"});
  CHECK(split(PreTokenizerKind::qwen2, "a\n\n b") == Words{"a", "\n\n", " b"});
  CHECK(split(PreTokenizerKind::gpt2, "a\n\n b") == Words{"a", "\n\n", " b"});
  CHECK(split(PreTokenizerKind::llama_bpe, "!\n\nb") == Words{"!\n\n", "b"});
}

TEST_CASE("U+180E is no white space, all other spaces are", "[pre_tokenizer]") {
  // It joins the punctuation pattern, which takes one blank in front; a white space would stand alone.
  for (const PreTokenizerKind kind : kKinds) {
    CHECK(split(kind, " \u180e\u180e") == Words{" \u180e\u180e"});
    for (const char* space : {"\t", "\n", "\v", "\f", "\r", " ", "\u0085", "\u00a0", "\u1680", "\u2000",
                              "\u2005", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}) {
      const std::string three = std::string(space) + space + space;
      CHECK(split(kind, three) == Words{three});
      CHECK(split(kind, "?" + three).size() ==
            (*space == '\n' || *space == '\r' ? split(kind, "?\n").size() : 2));
    }
    for (const char* other : {"\u180e", "\u200b", "\u2060", "\ufeff", "\u001c", "\u001f"}) {
      CHECK(split(kind, std::string(" ") + other) == Words{std::string(" ") + other});
    }
  }
}

TEST_CASE("words put together are the text, valid UTF-8 or not", "[pre_tokenizer]") {
  const std::string texts[] = {"",
                               "a",
                               std::string("nul\0nul", 7),
                               "\xff\xfe",
                               "caf\xc3",
                               "\xc3\xa9\xa9 x\xe4\xb8",
                               "ok \xf0\x9f\x9a\x80 \xed\xa0\x80!",
                               "  \x80  ",
                               "'s\xc0\x80'S 12\xf5 34"};
  for (const PreTokenizerKind kind : kKinds) {
    for (const std::string& text : texts) {
      std::string joined;
      for (const std::string& word : split(kind, text)) {
        CHECK_FALSE(word.empty());
        joined += word;
      }
      CHECK(joined == text);
    }
  }
}

TEST_CASE("bytes that are no UTF-8 are words of one byte", "[pre_tokenizer]") {
  for (const PreTokenizerKind kind : kKinds) {
    CHECK(split(kind, "ab\xff\xfe cd") == Words{"ab", "\xff", "\xfe", " cd"});
    CHECK(split(kind, "caf\xc3") == Words{"caf", "\xc3"});
    CHECK(split(kind, "\xed\xa0\x80") == Words{"\xed", "\xa0", "\x80"});
  }
}

TEST_CASE("a megabyte of one kind is one word", "[pre_tokenizer]") {
  for (const PreTokenizerKind kind : kKinds) {
    for (const char* character : {"a", "é", " ", "!", "日"}) {
      std::string text;
      while (text.size() < 1000000) text += character;
      CHECK(split(kind, text) == Words{text});
    }
  }
}

TEST_CASE("pre-tokenizers have names, and unknown names are refused with a list", "[pre_tokenizer]") {
  for (const PreTokenizerKind kind : kKinds) CHECK(find_pre_tokenizer(name(kind), "x") == kind);
  CHECK(find_pre_tokenizer("llama-v3", "x") == PreTokenizerKind::llama_bpe);
  const std::string error = testing::error_of([] { find_pre_tokenizer("tekken", "file: key"); });
  CHECK(testing::complaint(error, {"file: key", "\"tekken\"", "gpt-2", "smollm", "qwen2", "llama-bpe"}) ==
        "");
}

}  // namespace rung
