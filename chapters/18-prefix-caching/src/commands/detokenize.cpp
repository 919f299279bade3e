// `rung detokenize`: the text of token ids.
#include <charconv>
#include <iostream>

#include "commands/json_text.h"
#include "commands/options/model_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "model_file/model_file.h"
#include "rung/command_line.h"
#include "rung/error.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

namespace rung {

namespace {

// Numbers with commas or spaces between them.
void append_ids(std::string_view text, std::vector<int32_t>& ids) {
  constexpr const char* kSeparators = ", []\n";
  const std::string_view whole = text;
  while (true) {
    const size_t begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    int32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) {
      fail("detokenize: ", quoted(whole), ": expected token ids such as 42");
    }
    ids.push_back(id);
    text.remove_prefix(word.size());
  }
}

class Detokenize : public Command {
 public:
  const char* name() const override { return "detokenize"; }
  const char* summary() const override { return "Print the text of token ids"; }

  void options(CommandLine& line) override {
    model_.add(line);
    line.option("ids", words_, "Token ids, with spaces or commas between them");
    line.required();
    line.flag("--no-special", no_special_, "Leave control tokens such as <|im_end|> out");
    line.flag("--json", json_, "Print one JSON object with the text");
  }

  int run() override {
    std::vector<int32_t> ids;
    for (const std::string& word : words_) append_ids(word, ids);
    const Tokenizer tokenizer = load_tokenizer(*model_.open());
    print_warnings(tokenizer);
    StreamDecoder decoder;
    std::string text = decoder.push(tokenizer.decode(ids, !no_special_));
    text += decoder.finish();
    if (json_) {
      std::cout << "{\"text\": " << json_string(text) << "}\n";
    } else {
      std::cout << text << "\n";
    }
    return 0;
  }

 private:
  ModelOption model_;
  std::vector<std::string> words_;
  bool no_special_ = false, json_ = false;
};

RUNG_COMMAND(Detokenize);

}  // namespace

}  // namespace rung
