// Floating-point numbers as text for people.
#pragma once

#include <string>

namespace rung {

// The fewest digits that read back as the same float or double: "0.1", "100000", "1e-05", "inf", "nan".
std::string shortest(float value);
std::string shortest(double value);

}  // namespace rung
