// A signal handler that does nothing but set an atomic flag.
#include "commands/interrupt.h"

#include <signal.h>

namespace rung {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

struct sigaction before;

extern "C" void on_interrupt(int) {
  interrupted = true;
}

void catch_next(struct sigaction* previous) {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags =
      SA_RESETHAND;  // for one signal; and no SA_RESTART: a read() that waits returns with EINTR
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, previous);
}

}  // namespace

Interrupt::Interrupt() {
  catch_next(&before);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before, nullptr);
}

const std::atomic<bool>& Interrupt::flag() {
  return interrupted;
}

void Interrupt::clear() {
  catch_next(nullptr);
}

}  // namespace rung
