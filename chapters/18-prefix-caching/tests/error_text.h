// What an Error says, for tests of bad input.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "rung/error.h"

namespace rung::testing {

// The text of the Error that action throws; "(no error)" if it throws none.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

// Empty if text is one line of a sensible length that contains all of the words; else what is wrong with it.
inline std::string complaint(const std::string& text, std::initializer_list<std::string_view> words) {
  if (text.find('\n') != std::string::npos) return "more than one line: " + text;
  if (text.size() > 600) return "very long: " + text;
  for (std::string_view word : words) {
    if (text.find(word) == std::string::npos) {
      return "expected an error that says \"" + std::string(word) + "\", got: " + text;
    }
  }
  return "";
}

}  // namespace rung::testing
