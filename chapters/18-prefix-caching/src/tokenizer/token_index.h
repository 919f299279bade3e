// Ids by text: an open-addressing hash table over texts that stand somewhere else, 8 to 16 bytes a token.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace rung {

class TokenIndex {
 public:
  TokenIndex() = default;
  // texts must outlive the index and stay where it is.
  explicit TokenIndex(const std::vector<std::string_view>& texts) : texts_(&texts) {
    size_t size = 16;
    while (size < 2 * texts.size()) size *= 2;
    slots_.assign(size, -1);
  }

  // The id of a text that was inserted; -1 if there is none.
  int32_t find(std::string_view text) const { return slots_.empty() ? -1 : slots_[slot_of(text)]; }

  // Enters texts[id]. Gives the id under which the same text already stands, which then stays; else id.
  int32_t insert(int32_t id) {
    int32_t& slot = slots_[slot_of((*texts_)[id])];
    if (slot < 0) slot = id;
    return slot;
  }

 private:
  size_t slot_of(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = std::hash<std::string_view>()(text) & mask;
    while (slots_[slot] >= 0 && (*texts_)[slots_[slot]] != text) slot = (slot + 1) & mask;
    return slot;
  }

  const std::vector<std::string_view>* texts_ = nullptr;
  std::vector<int32_t> slots_;
};

}  // namespace rung
