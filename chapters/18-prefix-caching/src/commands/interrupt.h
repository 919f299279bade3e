// Ctrl-C as a flag that a long computation looks at.
#pragma once

#include <atomic>

namespace rung {

// Exit status of a command that Ctrl-C ended, as shells have it: 128 and the number of SIGINT.
constexpr int kInterruptedStatus = 130;

// While one of these lives, SIGINT sets its flag, interrupts a waiting read(), and does nothing else; a
// second one before clear() ends the program at once. (SIGTERM always does.) Only one at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  // the signal does again what it did before
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Has the signal come since the last Interrupt began, or clear()? False while there has been none.
  static const std::atomic<bool>& flag();
  void clear();
};

}  // namespace rung
