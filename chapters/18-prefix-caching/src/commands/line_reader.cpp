// Reads with read(2): std::getline would wait on after a signal.
#include "commands/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rung/error.h"

namespace rung {

LineReader::Result LineReader::read(std::string& line) {
  size_t searched = 0;
  for (;;) {
    const size_t line_break = buffer_.find('\n', searched);
    if (line_break != std::string::npos || (at_end_ && !buffer_.empty())) {
      line = buffer_.substr(0, line_break);
      buffer_.erase(0, line_break == std::string::npos ? line_break : line_break + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return Result::line;
    }
    if (at_end_) return Result::end;
    searched = buffer_.size();
    char bytes[4096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count > 0) {
      buffer_.append(bytes, static_cast<size_t>(count));
    } else if (count == 0) {
      at_end_ = true;
    } else if (errno == EINTR) {
      buffer_.clear();
      return Result::interrupted;
    } else {
      fail("standard input: cannot read: ", std::strerror(errno));
    }
  }
}

}  // namespace rung
