// The command line: what reaches a command, and one line and status 1 for whatever is wrong.
#include "rung/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>

#include "rung/error.h"
#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {

namespace {

// What the test wants the command to do, and what it was given.
std::string behaviour;
std::string file, colour;
int number;
float ratio;
uint64_t seed;
bool loud;
std::vector<std::string> words;
bool number_given;

class Probe : public Command {
 public:
  const char* name() const override { return "probe"; }
  const char* summary() const override { return "Record the arguments"; }
  void options(CommandLine& line) override {
    file = "default", colour = "red", number = 3, ratio = 0.5f, seed = 1, loud = false;
    words.clear();
    line_ = std::make_unique<CommandLine>(line);
    line.option("file", file, "A file");
    line.option("-n,--number", number, "A number");
    line.range(0, 10);
    line.option("--colour", colour, "A colour");
    line.choices({"red", "green"});
    line.option("--ratio", ratio, "A ratio");
    line.option("--seed", seed, "A seed");
    line.option("--word", words, "Words");
    line.flag("--loud", loud, "Shout");
    line.excludes("--seed");
  }
  int run() override {
    number_given = line_->given("--number");
    if (behaviour == "fail") fail("a.gguf: offset 8: expected 3");
    if (behaviour == "memory") throw std::bad_alloc();
    if (behaviour == "foreign") throw std::runtime_error("first\nsecond");
    if (behaviour == "print") std::cout << "answer\n";
    return behaviour == "seven" ? 7 : 0;
  }

 private:
  std::unique_ptr<CommandLine> line_;
};
RUNG_COMMAND(Probe);

struct Result {
  int status;
  std::string out, err;
};

Result run(std::vector<std::string> arguments, const std::string& wanted = "") {
  behaviour = wanted;
  arguments.insert(arguments.begin(), "rung");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::ostringstream out, err;
  std::streambuf* const real_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const real_err = std::cerr.rdbuf(err.rdbuf());
  const int status = run_commands(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(real_out);
  std::cerr.rdbuf(real_err);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("options reach the command, and what is not given keeps its default") {
  CHECK(run({"probe"}).status == 0);
  CHECK(file == "default");
  CHECK(number == 3);
  CHECK_FALSE(number_given);
  const Result result = run({"probe", "größe", "-n", "7", "--colour=green", "--ratio", "1e-3", "--seed",
                             "18446744073709551615", "--word", "a b", "--word", ""});
  CHECK(result.err == "");
  CHECK(file == "größe");
  CHECK(number == 7);
  CHECK(number_given);
  CHECK(colour == "green");
  CHECK(ratio == 1e-3f);
  CHECK(seed == 18446744073709551615u);
  CHECK(words == std::vector<std::string>{"a b", ""});
  CHECK(run({"probe", "--loud"}).status == 0);
  CHECK(loud);
  run({"probe", "--", "--loud"});
  CHECK(file == "--loud");
  CHECK_FALSE(loud);
}

TEST_CASE("the command's status is the program's") {
  CHECK(run({"probe"}, "seven").status == 7);
  CHECK(run({"probe"}, "print").out == "answer\n");
}

TEST_CASE("a wrong command line is one line on stderr and status 1") {
  const std::pair<std::vector<std::string>, std::string> wrong[] = {
      {{}, "A subcommand is required"},
      {{""}, "rung"},
      {{"nonsense"}, "there is no command \"nonsense\"; rung --help"},
      {{"probe", "--nonsense"}, "--nonsense"},
      {{"probe", "a", "surplus"}, "surplus"},
      {{"probe", "--number"}, "--number"},
      {{"probe", "--number", "x"}, "--number"},
      {{"probe", "--number", "1.5"}, "--number"},
      {{"probe", "--number", "11"}, "--number"},
      {{"probe", "--number", "-1"}, "--number"},
      {{"probe", "--number", "99999999999999999999"}, "--number"},
      {{"probe", "--seed", "-1"}, "--seed: \"-1\" is no whole number from 0 to 18446744073709551615"},
      {{"probe", "--seed", ""}, "--seed"},
      {{"probe", "--seed", "1 "}, "--seed"},
      {{"probe", "--seed", "0x10"}, "--seed"},
      {{"probe", "--number", "2147483648"}, "--number"},
      {{"probe", "--seed", "18446744073709551616"}, "--seed"},
      {{"probe", "--colour", "blue"}, "--colour"},
      {{"probe", "--ratio", "fast"}, "--ratio"},
      {{"probe", "--seed", "1", "--loud"}, "--seed"},
      {{"probe", "--colour", "blue\ngreen\x1b[31m"}, "blue\\ngreen\\x1b[31m"},
  };
  for (const auto& [arguments, text] : wrong) {
    const Result result = run(arguments);
    CAPTURE(text, result.err);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(result.err.substr(0, 6) == "rung: ");
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.err.back() == '\n');
    CHECK(result.err.find(text) != std::string::npos);
  }
}

TEST_CASE("an argument that is no UTF-8 is refused by number and byte") {
  const Result result = run({"probe", "--word", "a\xff"});
  CHECK(result.status == 1);
  CHECK(result.err.substr(0, 47) == "rung: argument 3: byte 1 is not valid UTF-8; fo");
  CHECK(run({"\xc3"}).status == 1);
}

TEST_CASE("whatever a command throws is one line and status 1") {
  Result result = run({"probe"}, "fail");
  CHECK(result.status == 1);
  CHECK(result.err == "rung: a.gguf: offset 8: expected 3\n");
  result = run({"probe"}, "memory");
  CHECK(result.status == 1);
  CHECK(result.err == "rung: out of memory\n");
  result = run({"probe"}, "foreign");
  CHECK(result.status == 1);
  CHECK(result.err == "rung: first\\nsecond\n");
}

TEST_CASE("help goes to stdout and is no error") {
  Result result = run({"--help"});
  CHECK(result.status == 0);
  CHECK(result.err == "");
  CHECK(result.out.find("Record the arguments") != std::string::npos);
  result = run({"probe", "--help"});
  CHECK(result.status == 0);
  CHECK(result.out.find("--number") != std::string::npos);
  CHECK(result.out.find("3") != std::string::npos);
}

TEST_CASE("an answer that cannot be written is an error") {
  std::ofstream full("/dev/full");
  REQUIRE(full);
  behaviour = "print";
  std::string program = "rung", command = "probe";
  char* argv[] = {program.data(), command.data()};
  std::ostringstream err;
  std::streambuf* const real_out = std::cout.rdbuf(full.rdbuf());
  std::streambuf* const real_err = std::cerr.rdbuf(err.rdbuf());
  const int status = run_commands(2, argv);
  std::cout.rdbuf(real_out);
  std::cerr.rdbuf(real_err);
  std::cout.clear();
  CHECK(status == 1);
  CHECK(err.str() == "rung: cannot write to standard output (closed pipe or full disk?)\n");
}

}  // namespace rung
