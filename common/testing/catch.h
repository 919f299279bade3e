// Catch2, whichever major version the build found (RUNG_CATCH2_3 says which), under the names of version 2.
#pragma once

#ifdef RUNG_CATCH2_3
#include <string>

#include <catch2/catch_all.hpp>

namespace Catch {
inline Matchers::StringContainsMatcher Contains(const std::string& text) {
  return Matchers::ContainsSubstring(text);
}
using Matchers::EndsWith;
using Matchers::StartsWith;
}  // namespace Catch
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
