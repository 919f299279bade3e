// What `trace` prints, compared with transformers' values for the same tokens.
#pragma once

#include <string>

namespace rung::testing {

// Runs `trace STEP` on the ids of prompt len7 of a fixture and compares view number `view` of what it shows
// with the fixture's array of the same tokens. Returns an empty text if name, shape, first values, extremes
// and root mean square of every row agree to `tolerance`; else what differs.
std::string check_trace(const std::string& fixture, const std::string& step, size_t view,
                        const std::string& name, const std::string& array, const std::string& device,
                        double tolerance = 2e-5);

}  // namespace rung::testing
