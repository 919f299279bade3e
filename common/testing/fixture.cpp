// Paths of fixtures, temporary folders, and running the program under test.
#include "testing/fixture.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "rung/error.h"

namespace rung::testing {

namespace fs = std::filesystem;

namespace {

fs::path fixtures_folder() {
  const char* folder = std::getenv("RUNG_FIXTURES");
  return fs::absolute(folder != nullptr ? folder : RUNG_FIXTURES).lexically_normal();
}

std::string program_path() {
  if (const char* program = std::getenv("RUNG_PROGRAM")) return program;
  return fs::read_symlink("/proc/self/exe").replace_filename("rung");
}

}  // namespace

std::string fixture_path(const std::string& name) {
  const fs::path path = fixtures_folder() / name;
  if (!fs::exists(path))
    fail("fixture ", path.string(), " is missing: tests/fixtures/README.md says how to make it");
  return path;
}

std::string default_model_path() {
  if (const char* model = std::getenv("RUNG_TEST_MODEL")) return model;
  const fs::path path =
      fixtures_folder().parent_path().parent_path() / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
  return fs::exists(path) ? path.string() : "";
}

std::string read_file(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  if (!input) fail(path, ": cannot open: ", std::strerror(errno));
  std::ostringstream bytes;
  bytes << input.rdbuf();
  return bytes.str();
}

std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = read_file(path);
  if (bytes.size() % sizeof(float) != 0)
    fail(path, ": ", bytes.size(), " bytes are no whole number of floats");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "rung-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail(pattern, ": cannot create: ", std::strerror(errno));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& bytes) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

Output run_program(const std::vector<std::string>& arguments, const std::string& input, int limit_seconds) {
  const TemporaryFolder folder;
  const std::string in = folder.write("in", input), out = folder.write("out", ""),
                    err = folder.write("err", "");
  std::vector<std::string> words = {program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) fail("cannot start a process: ", std::strerror(errno));
  if (child == 0) {
    dup2(open(in.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  bool late = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(limit_seconds);
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!late && std::chrono::steady_clock::now() > deadline) {
      late = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Output result;
  result.status = late ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(out);
  result.err = read_file(err);
  return result;
}

}  // namespace rung::testing
