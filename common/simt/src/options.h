// Switches from the environment; see simt/checks.h.
#pragma once

#include <cstdint>

namespace simt {

bool check_nan();
bool check_host();
bool check_leaks();

/// Whether threads and blocks run in a drawn order, and the seed.
bool order_seed(std::uint64_t& seed);

}  // namespace simt
