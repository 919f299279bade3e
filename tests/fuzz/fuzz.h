// What the fuzz targets share: input as a file, the bound on memory, and what an error must look like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rung/error.h"

namespace rung::fuzz {

inline std::string_view text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the program, which libFuzzer takes for a crash and keeps the input of, unless `holds`.
void require(bool holds, const char* what);

// A folder under $TMPDIR, removed at the end of the program.
const std::string& folder();

// Writes the bytes to a file of this name in folder() and gives its path. A link there is replaced, not
// followed.
std::string write_file(const std::string& name, std::string_view bytes);

// Puts a link to a file of tests/fixtures ($RUNG_FIXTURES) into folder() and gives its path.
std::string link_fixture(const std::string& fixture, const std::string& name);

// From construction to destruction at most 8 * file_bytes + 1 MB may be allocated at once.
class MemoryBound {
 public:
  explicit MemoryBound(size_t file_bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

 private:
  size_t limit_;
};

// One line of valid UTF-8 without control characters, of a length that a terminal can show.
void check_error(std::string_view line);

// Runs action; false if it threw an Error, which must be a good one. Any other exception is a crash.
template <class Action>
bool accepted(const Action& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    check_error(error.what());
    return false;
  }
}

// Ends the program unless `json` is valid JSON.
void check_json(const std::string& json);

}  // namespace rung::fuzz
