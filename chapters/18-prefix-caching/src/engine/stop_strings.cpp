// Looks for stop strings in the text held back, and holds back the tail that could still become one.
#include "engine/stop_strings.h"

#include <algorithm>
#include <utility>

#include "rung/error.h"

namespace rung {

void check_stop_strings(const std::vector<std::string>& strings) {
  for (const std::string& text : strings) {
    if (text.empty()) fail("a stop string is empty, expected at least one character");
  }
}

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  check_stop_strings(strings_);
}

std::string StopStrings::push(std::string_view text) {
  if (matched_) return "";
  held_ += text;
  // BEGIN SOLUTION 12.2
  size_t begin = 0, end = std::string::npos;  // of the string that is complete first
  for (const std::string& stop : strings_) {
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at;
      end = at + stop.size();
    }
  }
  if (end != std::string::npos) {
    matched_ = true;
    return std::exchange(held_, "").substr(0, begin);
  }
  // The longest tail that is the beginning of a stop string stays.
  size_t keep = 0;
  for (const std::string& stop : strings_) {
    for (size_t length = std::min(held_.size(), stop.size() - 1); length > keep; --length) {
      if (held_.compare(held_.size() - length, length, stop, 0, length) == 0) keep = length;
    }
  }
  std::string certain = held_.substr(0, held_.size() - keep);
  held_.erase(0, certain.size());
  return certain;
  // STUB: not_done("12.2");
  // END SOLUTION
}

std::string StopStrings::finish() {
  return std::exchange(held_, "");
}

}  // namespace rung
