// Conversations rendered as transformers renders them, and templates told apart by their whole text.
#include "tokenizer/chat_template.h"

#include <ctime>

#include "model_file/gguf_file.h"
#include "rung/sha256.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/token_references.h"

namespace rung {

using testing::complaint;
using testing::error_of;

namespace {

const std::vector<Message> kHi = {{"user", "Hi"}};

std::string render(const char* family, const std::vector<Message>& messages = kHi) {
  ChatOptions options;
  options.family = family;
  return render_chat(messages, "", options);
}

}  // namespace

TEST_CASE("conversations are rendered as transformers does", "[chat_template]") {
  const std::vector<testing::ChatCase> cases = testing::chat_cases();
  REQUIRE(cases.size() > 400);
  for (const testing::ChatCase& chat : cases) {
    INFO(chat.family << " " << chat.messages.size() << " messages, the first: " << chat.messages[0].content);
    CHECK(render_chat(chat.messages, "", chat.options) == chat.text);
  }
}

TEST_CASE("published templates are recognised by their whole text", "[chat_template]") {
  const std::pair<const char*, const char*> files[] = {
      {"Qwen-Qwen2.5-7B-Instruct.jinja", "qwen2.5"},
      {"Qwen-Qwen3-0.6B.jinja", "qwen3"},
      {"meta-llama-Llama-3.1-8B-Instruct.jinja", "llama-3.1"},
      {"meta-llama-Llama-3.2-3B-Instruct.jinja", "llama-3.2"}};
  for (const auto& [file, family] : files) {
    const std::string path = testing::vocabulary_path(file);
    if (path.empty()) {
      WARN("skipped: run tests/reference/fetch_vocabularies.py");
      return;
    }
    std::string text = testing::read_file(path);
    CHECK(recognise_chat_template(text) == family);
    if (text.back() == '\n') text.pop_back();
    CHECK(recognise_chat_template(text) == family);
    CHECK(recognise_chat_template(text + "\n") == family);
    for (const std::string& other :
         {text + " ", " " + text, text + "\n\n", text.substr(1), text.substr(0, text.size() - 1)}) {
      CHECK(recognise_chat_template(other) == "");
    }
    ChatOptions options;
    options.date = "05 Mar 2025";
    ChatOptions named = options;
    named.family = family;
    CHECK(render_chat(kHi, text, options) == render_chat(kHi, "", named));
  }
}

TEST_CASE("SmolLM2's and Llama 3's templates are recognised", "[chat_template]") {
  const std::string turns =
      "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = "
      "'<|start_header_id|>' + "
      "message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if "
      "loop.index0 == 0 "
      "%}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}";
  const std::string prompt = "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}";
  const std::string now = turns + "{% if add_generation_prompt %}" + prompt + "{% endif %}",
                    first = turns + prompt;
  CHECK(recognise_chat_template(now) == "llama-3");
  CHECK(recognise_chat_template(first) == "llama-3");
  ChatOptions silent;
  silent.add_generation_prompt = false;
  CHECK(render_chat(kHi, now, silent) ==
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>");
  CHECK(render_chat(kHi, first, silent) ==
        render_chat(kHi, now, {}));  // the first revision cannot be asked not to

  const std::string model = testing::default_model_path();
  if (model.empty()) {
    WARN("skipped: the default model is not there; ./run.sh downloads it");
    return;
  }
  const std::string text(GgufFile::open(model)->metadata().get_string("tokenizer.chat_template"));
  CHECK(recognise_chat_template(text) == "smollm2");
}

TEST_CASE("SHA-256 is the standard's, at every length of the padding", "[chat_template]") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_hex(std::string(55, 'x')) ==
        "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  CHECK(sha256_hex(std::string(56, 'x')) ==
        "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  CHECK(sha256_hex(std::string(63, 'x')) ==
        "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
  CHECK(sha256_hex(std::string(64, 'x')) ==
        "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
  CHECK(sha256_hex(std::string(119, 'x')) ==
        "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
  CHECK(sha256_hex(std::string(120, 'x')) ==
        "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
}

TEST_CASE("Llama 3.2 prints today's date unless it is given one", "[chat_template]") {
  char today[32];
  const std::time_t before = std::time(nullptr);
  std::strftime(today, sizeof today, "%d %b %Y", std::localtime(&before));
  const std::string text = render("llama-3.2");
  const std::time_t after = std::time(nullptr);
  char later[32];
  std::strftime(later, sizeof later, "%d %b %Y", std::localtime(&after));
  CHECK((text.find(std::string("Today Date: ") + today + "\n") != text.npos ||
         text.find(std::string("Today Date: ") + later + "\n") != text.npos));
  CHECK(render("llama-3.1").find("Today Date: 26 Jul 2024\n") != text.npos);
}

TEST_CASE("no template means the contents alone", "[chat_template]") {
  CHECK(render("none") == "Hi");
  CHECK(render("none", {{"system", "One."}, {"user", "Two."}}) == "One.\nTwo.");
}

TEST_CASE("unknown templates and families are refused with advice", "[chat_template]") {
  for (const char* text :
       {"", "{{ messages }}", "<|im_start|>", "{% for message in messages %}<|start_header_id|>"}) {
    CHECK(complaint(error_of([&] { render_chat(kHi, text, {}); }),
                    {"--chat-template FAMILY|none", "smollm2", "qwen2.5", "qwen3", "llama-3", "llama-3.2"}) ==
          "");
  }
  CHECK(complaint(error_of([] { render("chatml"); }),
                  {"\"chatml\"", "--chat-template FAMILY|none", "smollm2"}) == "");
}

TEST_CASE("tool messages, unknown roles and empty conversations are refused", "[chat_template]") {
  for (const char* family : {"smollm2", "qwen2.5", "qwen3", "llama-3", "llama-3.1", "llama-3.2", "none"}) {
    for (const char* role : {"tool", "ipython", "function"}) {
      CHECK(complaint(error_of([&] {
                        render(family, {{"user", "x"}, {role, "y"}});
                      }),
                      {"message 1", role, "tools are not supported"}) == "");
    }
    CHECK(complaint(error_of([&] {
                      render(family, {{"User", "x"}});
                    }),
                    {"message 0", "\"User\"", "user"}) == "");
    CHECK(complaint(error_of([&] { render(family, {}); }), {"at least one"}) == "");
  }
}

}  // namespace rung
