// Normal form C: decompose, put marks into order, compose.
#include "tokenizer/normalize.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tokenizer/normalization_data.h"
#include "tokenizer/utf8_codes.h"

namespace rung {

namespace {

// Hangul syllables are numbered by their parts (Unicode Standard, section 3.12).
constexpr char32_t kSyllables = 0xac00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11a7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

// No character from here on decomposes or combines.
constexpr char32_t kEnd = 0x30000;

const Decomposition* find_decomposition(char32_t code) {
  const Decomposition* end = kDecompositions + kDecompositionCount;
  const Decomposition* found =
      std::lower_bound(kDecompositions, end, code,
                       [](const Decomposition& entry, char32_t value) { return entry.code < value; });
  return found != end && found->code == code ? found : nullptr;
}

uint8_t combining_class(char32_t code) {
  const CombiningRange* end = kCombiningRanges + kCombiningRangeCount;
  const CombiningRange* found =
      std::lower_bound(kCombiningRanges, end, code,
                       [](const CombiningRange& range, char32_t value) { return range.last < value; });
  return found != end && found->first <= code ? found->combining_class : 0;
}

using Compositions = std::unordered_map<uint64_t, char32_t>;

uint64_t pair(char32_t first, char32_t second) {
  return static_cast<uint64_t>(first) << 32 | second;
}

const Compositions& compositions() {
  static const Compositions table = [] {
    Compositions pairs;
    for (size_t i = 0; i < kDecompositionCount; ++i) {
      const Decomposition& entry = kDecompositions[i];
      if (entry.composes) pairs.emplace(pair(entry.first, entry.second), entry.code);
    }
    return pairs;
  }();
  return table;
}

// By code point: may it be changed, moved or joined with its neighbours by normal form C?
const std::vector<bool>& unstable() {
  static const std::vector<bool> table = [] {
    std::vector<bool> codes(kEnd);
    for (size_t i = 0; i < kDecompositionCount; ++i) {
      const Decomposition& entry = kDecompositions[i];
      codes[entry.composes ? entry.second : entry.code] = true;
    }
    for (size_t i = 0; i < kCombiningRangeCount; ++i) {
      const CombiningRange& range = kCombiningRanges[i];
      for (char32_t code = range.first; code <= range.last; ++code) codes[code] = true;
    }
    for (char32_t i = 0; i < kVowelCount; ++i) codes[kVowels + i] = true;
    for (char32_t i = 0; i < kTrailCount; ++i) codes[kTrails + i] = true;
    return codes;
  }();
  return table;
}

void decompose(char32_t code, std::vector<char32_t>& codes) {
  if (code >= kSyllables && code < kSyllables + kSyllableCount) {
    const char32_t index = code - kSyllables;
    codes.push_back(kLeads + index / (kVowelCount * kTrailCount));
    codes.push_back(kVowels + index / kTrailCount % kVowelCount);
    if (index % kTrailCount != 0) codes.push_back(kTrails + index % kTrailCount);
    return;
  }
  const Decomposition* entry = code < 0xc0 ? nullptr : find_decomposition(code);
  if (entry == nullptr) {
    codes.push_back(code);
    return;
  }
  decompose(entry->first, codes);
  if (entry->second != 0) decompose(entry->second, codes);
}

// The character that the two make; 0 if they make none.
char32_t compose(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels && second < kVowels + kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTrailCount;
  }
  const bool syllable = first >= kSyllables && first < kSyllables + kSyllableCount;
  if (syllable && (first - kSyllables) % kTrailCount == 0 && second > kTrails &&
      second < kTrails + kTrailCount) {
    return first + (second - kTrails);
  }
  const auto found = compositions().find(pair(first, second));
  return found == compositions().end() ? 0 : found->second;
}

// Puts runs of combining characters into the order of their classes.
void reorder(std::vector<char32_t>& codes) {
  for (size_t begin = 0; begin < codes.size();) {
    if (combining_class(codes[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < codes.size() && combining_class(codes[end]) != 0) ++end;
    std::stable_sort(codes.begin() + begin, codes.begin() + end,
                     [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

// Joins each character with the last starter before it, unless one in between has the same or a higher class.
void recompose(std::vector<char32_t>& codes) {
  constexpr size_t kNoStarter = SIZE_MAX;
  size_t starter = kNoStarter, out = 0;
  uint8_t last_class = 0;  // of the character written last, if it is not the starter itself
  for (const char32_t code : codes) {
    const uint8_t current = combining_class(code);
    const bool adjacent = starter != kNoStarter && out == starter + 1;
    if (starter != kNoStarter && (adjacent || (last_class != 0 && last_class < current))) {
      const char32_t joined = compose(codes[starter], code);
      if (joined != 0) {
        codes[starter] = joined;
        continue;
      }
    }
    if (current == 0) starter = out;
    last_class = current;
    codes[out++] = code;
  }
  codes.resize(out);
}

std::string normalized_valid(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  while (!text.empty()) {
    decompose(decode_utf8(text), codes);
    text.remove_prefix(utf8_sequence_length(text));
  }
  reorder(codes);
  recompose(codes);
  std::string result;
  for (const char32_t code : codes) append_utf8(result, code);
  return result;
}

}  // namespace

bool may_need_normalizing(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0xcc) {  // below U+0300 everything is composed already
      ++i;
      continue;
    }
    const int length = utf8_sequence_length(text.substr(i));
    if (length == 0) {
      ++i;
      continue;
    }
    const char32_t code = decode_utf8(text.substr(i));
    if (code < kEnd && unstable()[code]) return true;
    i += length;
  }
  return false;
}

std::string normalized(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t valid = utf8_valid_prefix(text);
    result += normalized_valid(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) break;
    result += text[0];
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace rung
