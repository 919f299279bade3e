// Ctrl-C and SIGTERM as a flag that a long computation looks at.
#pragma once

#include <atomic>

namespace rung {

// Exit status of a command that Ctrl-C ended, as shells have it: 128 and the number of SIGINT.
constexpr int kInterruptedStatus = 130;

// While one of these lives, SIGINT and SIGTERM set its flag, interrupt a waiting read(), and do nothing else.
// Only one at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  // the signals do again what they did before
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& flag() const;
  void clear();
  bool terminated() const;  // by SIGTERM, which asks for the end of the program, not of an answer
};

}  // namespace rung
