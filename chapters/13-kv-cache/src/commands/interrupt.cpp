// Signal handlers that do nothing but set atomic flags.
#include "commands/interrupt.h"

#include <signal.h>

namespace rung {

namespace {

std::atomic<bool> interrupted{false}, asked_to_end{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

struct sigaction before_interrupt, before_termination;

extern "C" void on_signal(int signal_number) {
  if (signal_number == SIGTERM) asked_to_end = true;
  interrupted = true;
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = asked_to_end = false;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);  // and no SA_RESTART: a read() that waits returns with EINTR
  sigaction(SIGINT, &action, &before_interrupt);
  sigaction(SIGTERM, &action, &before_termination);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_interrupt, nullptr);
  sigaction(SIGTERM, &before_termination, nullptr);
}

const std::atomic<bool>& Interrupt::flag() const {
  return interrupted;
}

void Interrupt::clear() {
  interrupted = false;
}

bool Interrupt::terminated() const {
  return asked_to_end;
}

}  // namespace rung
