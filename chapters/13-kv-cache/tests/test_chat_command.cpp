// The program's `chat` through a pipe and with one question, and what Ctrl-C does to it and to `generate`.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <nlohmann/json.hpp>

#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {
namespace {

using testing::fixture_path;
using testing::Output;

std::vector<std::string> chat_arguments(const std::vector<std::string>& more,
                                        const std::string& max_tokens = "6") {
  std::vector<std::string> all = {"chat",
                                  "-m",
                                  fixture_path("llama-untied.gguf"),
                                  "-t",
                                  "2",
                                  "--chat-template",
                                  "smollm2",
                                  "--temperature",
                                  "0",
                                  "-n",
                                  max_tokens};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::string greedy_text(const std::string& prompt, const std::string& tokens) {
  const Output output = testing::run_program({"generate", "-m", fixture_path("llama-untied.gguf"), "-t", "2",
                                              "--temperature", "0", "-n", tokens, "--json", "-p", prompt});
  REQUIRE(output.status == 0);
  return nlohmann::json::parse(output.out).at("text");
}

std::string user(const std::string& text) {
  return "<|im_start|>user\n" + text + "<|im_end|>\n<|im_start|>assistant\n";
}

const std::string kSystem = "<|im_start|>system\nBe brief.<|im_end|>\n";

TEST_CASE("chat: one question, its answer on stdout and a line of figures on stderr") {
  const Output output = testing::run_program(chat_arguments({"--system", "Be brief.", "The river?"}));
  CAPTURE(output.err);
  CHECK(output.status == 0);
  CHECK(output.out == greedy_text(kSystem + user("The river?"), "6") + "\n");
  CHECK_THAT(output.err, Catch::Contains("tok/s") && Catch::Contains("ended by length"));
}

TEST_CASE("chat: a conversation through a pipe, with its history, until /clear") {
  const Output output =
      testing::run_program(chat_arguments({"--system", "Be brief."}),
                           "The river?\n\n\"\"\"\nShe\ncounts\n\"\"\"\n/help\n/clear\nThe river?\n/what\n");
  CAPTURE(output.err);
  CHECK(output.status == 0);
  const std::string first = greedy_text(kSystem + user("The river?"), "6");
  const std::string second =
      greedy_text(kSystem + user("The river?") + first + "<|im_end|>\n" + user("She\ncounts"), "6");
  CHECK(second != greedy_text(kSystem + user("She\ncounts"), "6"));  // so history shows
  CHECK(output.out == first + "\n" + second + "\n" + first + "\n");
  CHECK_THAT(output.err,
             Catch::Contains("/exit") && Catch::Contains("forgotten") && Catch::Contains("/what"));
}

TEST_CASE("chat: /exit and the end of the input end it") {
  CHECK(testing::run_program(chat_arguments({}), "/exit\nThe river?\n").out.empty());
  const Output nothing = testing::run_program(chat_arguments({}), "");
  CHECK(nothing.status == 0);
  CHECK(nothing.out.empty());
}

TEST_CASE("chat: a question that does not fit is left out, with both numbers, and the rest stands") {
  std::string longer;
  for (int i = 0; i < 200; ++i) longer += "\x01";  // each a token of its own
  const Output output =
      testing::run_program(chat_arguments({"--context", "200"}), "The river?\n" + longer + "\nShe?\n");
  const Output without = testing::run_program(chat_arguments({"--context", "200"}), "The river?\nShe?\n");
  CAPTURE(output.err);
  CHECK(output.status == 0);
  CHECK(output.out == without.out);
  CHECK(output.out.size() > 10);
  CHECK_THAT(output.err, Catch::Contains("space for 200") && Catch::Contains("/clear"));
  const Output one = testing::run_program(chat_arguments({"--context", "200", longer}));
  CHECK(one.status == 1);
  CHECK(one.out.empty());
  CHECK_THAT(one.err, Catch::StartsWith("rung: the prompt has ") &&
                          Catch::Contains(" tokens and the context has space for 200"));
}

TEST_CASE("chat: a full context ends an answer and says so") {
  const Output output = testing::run_program(chat_arguments({"--context", "100"}, "100"), "The river?\n");
  CAPTURE(output.err);
  CHECK(output.status == 0);
  CHECK_THAT(output.err, Catch::Contains("context of 100 tokens is full"));
}

TEST_CASE("chat: an unknown template and flags out of range are refused before anything is asked") {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--top-p", "2"},
                                             {"--context", "513"},
                                             {"--chat-template", "gpt-9"},
                                             {"--stop", ""},
                                             {"a", "b"},
                                             {""},
                                             {" \n"}}) {
    const Output output = testing::run_program(chat_arguments(wrong), "The river?\n");
    CAPTURE(wrong, output.err);
    CHECK(output.status == 1);
    CHECK(output.err.find('\n') == output.err.size() - 1);
    CHECK(output.out.empty());
  }
  const Output unknown =
      testing::run_program({"chat", "-m", fixture_path("llama-untied.gguf")}, "The river?\n");
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, Catch::Contains("--chat-template"));
}

// The program with pipes for stdin and stdout, so that a test can answer to what it prints.
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments) {
    const char* program = std::getenv("RUNG_PROGRAM");
    std::vector<std::string> words = {
        program != nullptr
            ? program
            : std::filesystem::read_symlink("/proc/self/exe").replace_filename("rung").string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int in[2], out[2];
    REQUIRE(pipe2(in, O_CLOEXEC) == 0);
    REQUIRE(pipe2(out, O_CLOEXEC) == 0);
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~RunningProgram() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (in_ >= 0) close(in_);
    close(out_);
  }

  void type(const std::string& text) {
    REQUIRE(write(in_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void send(int signal_number) { kill(child_, signal_number); }
  // Whether it prints, or closes its output, within this time.
  bool speaks_within(int milliseconds) {
    pollfd waiting = {out_, POLLIN, 0};
    return poll(&waiting, 1, milliseconds) > 0;
  }
  // Its next output; empty once it has closed it.
  std::string read_some() {
    if (!speaks_within(120000)) FAIL("the program has printed nothing for two minutes");
    char bytes[4096];
    const ssize_t count = read(out_, bytes, sizeof(bytes));
    return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : "";
  }
  // Its next output and all that follows, until it is silent after the end of a line.
  std::string read_until_silent() {
    std::string all = read_some();
    while (all.empty() || all.back() != '\n' || speaks_within(400)) {
      const std::string some = read_some();
      if (some.empty()) break;
      all += some;
    }
    return all;
  }
  // What it says to a line. If an interrupt that came late has thrown the line away, it is typed again.
  std::string ask(const std::string& line) {
    type(line);
    for (int more = 0; more < 5 && !speaks_within(10000); ++more) type(line);
    return read_until_silent();
  }
  std::string read_rest() {
    std::string all;
    for (std::string some = read_some(); !some.empty(); some = read_some()) all += some;
    return all;
  }
  // Exit status, or 128 + signal number.
  int wait() {
    if (in_ >= 0) close(in_);
    in_ = -1;
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  int in_ = -1, out_ = -1;
};

// A generation that takes many seconds on any machine, so that there is time to interrupt it.
std::vector<std::string> many_seconds(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"generate",
                                  "-m",
                                  testing::default_model_path(),
                                  "-n",
                                  "2000",
                                  "--ignore-eos",
                                  "--temperature",
                                  "0",
                                  "-p",
                                  "The river turns"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("interrupt: Ctrl-C ends generate with what there is, SIGTERM at once", "[model]") {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    RunningProgram program(many_seconds({}));
    const std::string begin = program.read_some();
    REQUIRE(!begin.empty());
    program.send(signal_number);
    const std::string all = begin + program.read_rest();
    CHECK(program.wait() == 128 + signal_number);
    CHECK((all.back() == '\n') == (signal_number == SIGINT));
  }
}

TEST_CASE("interrupt: the JSON of an interrupted generate is whole", "[model]") {
  RunningProgram program(many_seconds({"--json"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  program.send(SIGINT);
  const std::string out = program.read_rest();
  const int status = program.wait();
  if (status == 128 + SIGINT && out.empty()) return;  // it came before the first token: a slow machine
  CHECK(status == 130);
  const nlohmann::json result = nlohmann::json::parse(out);
  CHECK(result.at("finish_reason") == "aborted");
  CHECK(result.at("output_ids").size() < 2000);
}

TEST_CASE("interrupt: Ctrl-C stops an answer of chat, not the program", "[model]") {
  RunningProgram program(
      {"chat", "-m", testing::default_model_path(), "--device", "cpu", "-n", "1000", "--temperature", "0"});
  for (int turn = 0; turn < 2; ++turn) {
    program.type("/clear\nWrite a long story about a river, in ten chapters.\n");
    REQUIRE(!program.read_some().empty());
    program.send(SIGINT);
    CHECK_THAT(program.read_until_silent(), Catch::EndsWith("\n"));
  }
  program.type("/exit\n");
  program.read_rest();
  CHECK(program.wait() == 0);
}

TEST_CASE("interrupt: two in a row at the prompt end chat, a single one does not") {
  RunningProgram program(chat_arguments({}));
  for (int turn = 0; turn < 2; ++turn) {  // the answer in between makes it two single ones
    REQUIRE(!program.ask("The river?\n").empty());
    program.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  REQUIRE(!program.ask("The river?\n").empty());
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGINT);
  program.read_rest();
  CHECK(program.wait() == 130);
}

}  // namespace
}  // namespace rung
