// See options.h.
#include "options.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "simt/checks.h"

namespace simt {
namespace {

struct Checks {
  bool nan = false, host = false, leaks = false;
  Checks() {
    const char* text = std::getenv("RUNG_SIMT_CHECK");
    std::string rest = text == nullptr ? "" : text;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string word = rest.substr(0, comma);
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
      if (word == "nan")
        nan = true;
      else if (word == "host")
        host = true;
      else if (word == "leaks")
        leaks = true;
      else
        std::fprintf(stderr, "emulated CUDA: RUNG_SIMT_CHECK knows nan, host and leaks, not '%s'\n",
                     word.c_str());
    }
  }
};
const Checks& checks() {
  static const Checks instance;
  return instance;
}

enum class Order { from_environment, ascending, drawn };
std::atomic<Order> order{Order::from_environment};
std::atomic<std::uint64_t> drawn_seed{0};

}  // namespace

bool check_nan() {
  return checks().nan;
}
bool check_host() {
  return checks().host;
}
bool check_leaks() {
  return checks().leaks;
}

void set_order(std::uint64_t seed) {
  drawn_seed.store(seed);
  order.store(Order::drawn);
}
void reset_order() {
  order.store(Order::ascending);
}

bool order_seed(std::uint64_t& seed) {
  switch (order.load()) {
    case Order::ascending:
      return false;
    case Order::drawn:
      seed = drawn_seed.load();
      return true;
    case Order::from_environment:
      break;
  }
  const char* text = std::getenv("RUNG_SIMT_SEED");
  if (text == nullptr || *text == 0) return false;
  seed = std::strtoull(text, nullptr, 10);
  return true;
}

}  // namespace simt
