// The one way in which Rung reports that something is wrong: an exception whose text is one line for the
// user.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rung {

// A wrong file, flag, request or machine. what() is one line: where, what was found, what was expected, what
// to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An exercise whose solution has not been written yet. what() names the task.
class NotDone : public Error {
 public:
  using Error::Error;
};

// Throws Error with all parts printed one after the other: fail(path, ": offset ", offset, ": expected ", …).
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

// Raised by the stub that stands in for the solution of an exercise; task is its id, such as "06.2".
[[noreturn]] void not_done(const char* task);

// Text from a file or a user made fit to print inside an error: in double quotes, control characters and
// invalid UTF-8 escaped as \xNN, cut after limit bytes with "…".
std::string quoted(std::string_view text, size_t limit = 80);

// The same escapes without quotes or a limit. Line breaks and tabs become \n, \r and \t.
std::string escaped(std::string_view text);

}  // namespace rung
