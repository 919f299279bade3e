// `rung tokenize`: the token ids of a text.
#include <iostream>
#include <memory>

#include "commands/json_text.h"
#include "commands/options/model_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "model_file/model_file.h"
#include "rung/command_line.h"
#include "rung/error.h"
#include "rung/mapped_file.h"
#include "tokenizer/tokenizer.h"

namespace rung {

namespace {

class Tokenize : public Command {
 public:
  const char* name() const override { return "tokenize"; }
  const char* summary() const override { return "Print the token ids of a text"; }

  void options(CommandLine& line) override {
    model_.add(line);
    line.option("--text", text_, "The text");
    line.option("--file", file_, "A file that holds the text, taken byte for byte");
    line.excludes("--text");
    line.flag("--no-special", no_special_,
              "Special tokens written in the text are plain text, and none is added around it");
    line.flag("--json", json_, "Print one JSON object: ids, and the text of each as pieces");
    line_ = std::make_unique<CommandLine>(line);
  }

  int run() override {
    if (line_->given("--text") == line_->given("--file"))
      fail("tokenize: expected --text TEXT or --file FILE");
    const std::string text = line_->given("--file") ? read_file() : text_;
    const Tokenizer tokenizer = load_tokenizer(*model_.open());
    print_warnings(tokenizer);
    if (const size_t lost = tokenizer.bytes_without_token(text); lost > 0) {
      std::cerr << "rung: warning: this vocabulary has no token for " << lost
                << (lost == 1 ? " byte" : " bytes") << " of the text, left out\n";
    }
    print(tokenizer, tokenizer.encode(text, !no_special_, !no_special_));
    return 0;
  }

 private:
  std::string read_file() const {
    const MappedFile file(file_);
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }

  void print(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) const {
    const char* separator = "";
    if (json_) std::cout << "{\"ids\": [";
    for (const int32_t id : ids) {
      std::cout << separator << id;
      separator = json_ ? ", " : " ";
    }
    if (json_) {
      std::cout << "], \"pieces\": [";
      separator = "";
      for (const int32_t id : ids) {
        std::cout << separator << json_string(tokenizer.piece(id));
        separator = ", ";
      }
      std::cout << "]}";
    }
    std::cout << "\n";
  }

  ModelOption model_;
  std::string text_, file_;
  bool no_special_ = false, json_ = false;
  std::unique_ptr<CommandLine> line_;
};

RUNG_COMMAND(Tokenize);

}  // namespace

}  // namespace rung
