// The progress bar, redrawn at most ten times a second.
#include "rung/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rung {

Progress::Progress(std::string what, size_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::advance_to(size_t done) {
  if (!terminal_ || total_ == 0) return;
  const double now = timer_.seconds();
  if (now < 0.5 || now - last_ < 0.1) return;
  last_ = now;
  shown_ = true;
  constexpr int width = 30;
  const int filled = static_cast<int>(width * std::min(done, total_) / total_);
  std::fprintf(stderr, "\r%s [%.*s%*s] %zu/%zu\033[K", what_.c_str(), filled,
               "##############################", width - filled, "", done, total_);
  std::fflush(stderr);
}

}  // namespace rung
