// Lines from standard input, and word of a Ctrl-C that came while waiting for one.
#pragma once

#include <string>

namespace rung {

class LineReader {
 public:
  enum class Result {
    line,         // without its line break
    end,          // no more lines: Ctrl-D, or the end of a file or pipe
    interrupted,  // a signal came before the line was complete; what had been typed of it is gone
  };
  Result read(std::string& line);

 private:
  std::string buffer_;  // read but not yet given out
  bool at_end_ = false;
};

}  // namespace rung
