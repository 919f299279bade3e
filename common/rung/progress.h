// A progress bar on stderr, shown only where stderr is a terminal and only for work that takes over half a
// second.
#pragma once

#include <cstddef>
#include <string>

#include "rung/timer.h"

namespace rung {

class Progress {
 public:
  // what: a few words such as "prefill"; total: the number of steps.
  Progress(std::string what, size_t total);
  ~Progress();  // erases the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance_to(size_t done);

 private:
  std::string what_;
  size_t total_;
  bool terminal_;
  bool shown_ = false;
  double last_ = 0;
  Timer timer_;
};

}  // namespace rung
