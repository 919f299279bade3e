// Where tests find files: reference fixtures, the default model, scratch space, and the program under test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rung::testing {

// Full path of a file or folder in tests/fixtures ($RUNG_FIXTURES overrides the folder). Throws if it is not
// there.
std::string fixture_path(const std::string& name);

// The default model's GGUF file ($RUNG_TEST_MODEL, else models/ beside tests/); empty if it has not been
// downloaded, and then the test should say so and return.
std::string default_model_path();

std::string read_file(const std::string& path);
std::vector<float> read_floats(const std::string& path);  // little-endian float32

// A folder of its own under the system's temporary folder, deleted at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  // Writes a file into it and returns the file's path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::string path_;
};

struct Output {
  int status;  // exit status; 128 + signal number if a signal ended it; 124 if it ran past the limit
  std::string out, err;
};

// Runs the chapter's program ($RUNG_PROGRAM, else `rung` beside the test program) with these arguments.
Output run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                   int limit_seconds = 60);

}  // namespace rung::testing
