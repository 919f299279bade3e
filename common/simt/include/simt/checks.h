// Looking for bugs on purpose: runs under other orders of threads and blocks, and what RUNG_SIMT_CHECK
// switches on.
//   RUNG_SIMT_SEED=n             threads and blocks run in an order drawn from n
//   RUNG_SIMT_CHECK=a,b          nan: poison of uninitialised shared memory that reaches global memory is an
//   error
//                                host: host code that touches device memory is stopped and told
//                                leaks: device memory that is never freed is listed at exit
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace simt {

/// From now on threads and blocks run in an order drawn from `seed` (as RUNG_SIMT_SEED does), or ascending
/// again.
void set_order(std::uint64_t seed);
void reset_order();

/// Calls `run`, which returns a std::vector of results, in ascending order and under `orders` drawn ones;
/// names the first element that differs, or gives "".
template <class Run>
std::string order_difference(Run run, std::uint64_t orders = 8) {
  reset_order();
  const auto expected = run();
  for (std::uint64_t seed = 1; seed <= orders; ++seed) {
    set_order(seed);
    const auto got = run();
    reset_order();
    for (std::size_t i = 0; i < expected.size() && i < got.size(); ++i) {
      if (std::memcmp(&expected[i], &got[i], sizeof(expected[i])) != 0) {
        return "the result depends on the order of threads or blocks: element " + std::to_string(i) + " is " +
               std::to_string(expected[i]) + " in ascending order and " + std::to_string(got[i]) +
               " with RUNG_SIMT_SEED=" + std::to_string(seed);
      }
    }
  }
  return "";
}

}  // namespace simt
