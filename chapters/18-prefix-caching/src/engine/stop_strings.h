// Ends an answer at a stop string: nothing of the string gets out, not even its beginning, and nothing before
// it is lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rung {

// Throws Error if one of them is empty.
void check_stop_strings(const std::vector<std::string>& strings);

// The text ends as soon as one of the strings is complete in it, at that string's first byte (of several that
// are complete at the same byte, the longest one's). So it does not matter in which pieces the text arrives.
class StopStrings {
 public:
  // Throws Error as check_stop_strings() does.
  explicit StopStrings(std::vector<std::string> strings = {});

  // The text that is certain to stand before any stop string. A tail that could still become one is held
  // back.
  std::string push(std::string_view text);
  // What is left when the answer has ended for another reason; empty after a match.
  std::string finish();
  bool matched() const { return matched_; }

 private:
  std::vector<std::string> strings_;
  std::string held_;
  bool matched_ = false;
};

}  // namespace rung
