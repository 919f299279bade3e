// Holding back the bytes of a character that is not complete.
#include "tokenizer/stream_decoder.h"

#include "rung/error.h"
#include "rung/utf8.h"

namespace rung {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// How many bytes at the start of text belong to a character that is valid so far: the longest prefix that
// could still become a valid sequence, at least 1. (Unicode 15, section 3.9: one U+FFFD stands for a maximal
// subpart.)
struct Start {
  size_t bytes;
  bool completable;  // text ends before the character does
};

Start incomplete_start(std::string_view text) {
  for (size_t length = text.size() < 3 ? text.size() : 3; length > 0; --length) {
    // A prefix can be completed if some choice of the missing bytes makes it valid; the lowest and the
    // highest continuation byte stand for all, since only the second byte's range depends on the first.
    for (const char filler : {'\x80', '\xbf'}) {
      std::string whole(text.substr(0, length));
      for (size_t total = length + 1; total <= 4; ++total) {
        whole += filler;
        if (utf8_sequence_length(whole) == static_cast<int>(total)) return {length, length == text.size()};
      }
    }
  }
  return {1, false};
}

}  // namespace

std::string StreamDecoder::push(std::string_view bytes) {
  // BEGIN SOLUTION 04.3
  tail_ += bytes;
  std::string_view rest = tail_;
  std::string text;
  while (!rest.empty()) {
    const size_t valid = utf8_valid_prefix(rest);
    text += rest.substr(0, valid);
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    const Start start = incomplete_start(rest);
    if (start.completable) break;
    text += kReplacement;
    rest.remove_prefix(start.bytes);
  }
  tail_ = std::string(rest);
  return text;
  // STUB: (void)bytes;
  // STUB: (void)incomplete_start;
  // STUB: not_done("04.3");
  // END SOLUTION
}

std::string StreamDecoder::finish() {
  const std::string text(tail_.empty() ? std::string_view() : kReplacement);
  tail_.clear();
  return text;
}

}  // namespace rung
