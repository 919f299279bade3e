// Parts that announce themselves: a file in src/commands, src/trace or bench registers what it defines, and
// the fixed shell that runs them needs no list to be edited.
#pragma once

#include <memory>
#include <vector>

namespace rung {

// All registered parts of type Part, in no particular order.
template <class Part>
std::vector<std::unique_ptr<Part>>& registry() {
  static std::vector<std::unique_ptr<Part>> parts;
  return parts;
}

template <class Part>
struct Registered {
  explicit Registered(std::unique_ptr<Part> part) { registry<Part>().push_back(std::move(part)); }
};

}  // namespace rung
