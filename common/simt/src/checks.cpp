// What the compiler's alignment and array-bounds checks in translated sources call: an error of the launch,
// with kernel, block and thread. (The translated files are compiled with -fsanitize=alignment,bounds; where
// UndefinedBehaviorSanitizer's own runtime is linked, it answers these calls instead, and this file is left
// out.)
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "block.h"

namespace {

// The layouts are part of the interface between the compilers and UndefinedBehaviorSanitizer's runtime.
struct SourceLocation {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
};
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;
  char name[1];
};
struct TypeMismatch {
  SourceLocation location;
  const TypeDescriptor* type;
  unsigned char log_alignment;
  unsigned char kind;
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

void report(cudaError_t error, const simt::Message& message) {
  if (simt::Worker* worker = simt::Worker::active()) worker->fail(error, message);
  std::fprintf(stderr, "host code of a .cu file: %s\n", message.c_str());
}

}  // namespace

extern "C" {

void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, void* pointer) {
  const unsigned alignment = 1u << data->log_alignment;
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  report(cudaErrorMisalignedAddress,
         simt::text("misaligned access at %s:%u: address %p for %s, which needs a multiple of %u",
                    simt::base_name(data->location.file), data->location.line, pointer, data->type->name,
                    alignment));
}
void __ubsan_handle_type_mismatch_v1_abort(TypeMismatch* data, void* pointer) {
  __ubsan_handle_type_mismatch_v1(data, pointer);
}

void __ubsan_handle_out_of_bounds(OutOfBounds* data, void* index) {
  // The index comes by value when it fits a pointer, which every index here does.
  const bool is_signed = (data->index->info & 1) != 0;
  const unsigned bits = 1u << (data->index->info >> 1);
  std::uint64_t value = reinterpret_cast<std::uintptr_t>(index);
  if (is_signed && bits < 64 && (value >> (bits - 1) & 1)) value |= ~std::uint64_t{0} << bits;
  report(cudaErrorIllegalAddress,
         simt::text(is_signed ? "index %lld is out of bounds for an array of type %s at %s:%u"
                              : "index %llu is out of bounds for an array of type %s at %s:%u",
                    static_cast<long long>(value), data->array->name, simt::base_name(data->location.file),
                    data->location.line));
}
void __ubsan_handle_out_of_bounds_abort(OutOfBounds* data, void* index) {
  __ubsan_handle_out_of_bounds(data, index);
}

}  // extern "C"
