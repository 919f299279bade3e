// Text as it is generated: passes on bytes as soon as they complete a character and holds back only a tail
// that later bytes could still complete.
#pragma once

#include <string>
#include <string_view>

namespace rung {

class StreamDecoder {
 public:
  // The text that is certain after these bytes. Bytes that can never become valid UTF-8 come out as U+FFFD.
  std::string push(std::string_view bytes);
  // The rest: an incomplete tail becomes U+FFFD.
  std::string finish();

 private:
  std::string tail_;
};

}  // namespace rung
