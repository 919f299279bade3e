// The table of stored types: name, elements and bytes of a block.
#include "tensor/dtype.h"

namespace rung {

namespace {

// In the order of DType.
constexpr DTypeInfo kTypes[] = {
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"BF16", 1, 2},
    {"I32", 1, 4},
    {"Q4_0", 32, 2 + 16},
    {"Q4_1", 32, 2 + 2 + 16},
    {"Q5_0", 32, 2 + 4 + 16},
    {"Q5_1", 32, 2 + 2 + 4 + 16},
    {"Q8_0", 32, 2 + 32},
    {"Q4_K", 256, 2 + 2 + 12 + 128},
    {"Q5_K", 256, 2 + 2 + 12 + 32 + 128},
    {"Q6_K", 256, 128 + 64 + 16 + 2},
};

}  // namespace

const DTypeInfo& info(DType dtype) {
  return kTypes[static_cast<size_t>(dtype)];
}

}  // namespace rung
