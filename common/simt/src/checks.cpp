// What the compiler's alignment and array-bounds checks in translated sources call: an error of the launch, with kernel, block
// and thread. (The translated files are compiled with -fsanitize=alignment,bounds; where UndefinedBehaviorSanitizer's own runtime
// is linked, it answers these calls instead, and this file is left out.)
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

std::string place(const SourceLocation& location) {
  const char* slash = std::strrchr(location.file, '/');
  return std::string(slash == nullptr ? location.file : slash + 1) + ":" + std::to_string(location.line);
}

void report(cudaError_t error, const std::string& text) {
  if (simt::Worker* worker = simt::Worker::active()) worker->fail(error, text);
  std::fprintf(stderr, "host code of a .cu file: %s\n", text.c_str());
}

}  // namespace

extern "C" {

void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, void* pointer) {
  char address[32];
  std::snprintf(address, sizeof(address), "%p", pointer);
  const unsigned alignment = 1u << data->log_alignment;
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  report(cudaErrorMisalignedAddress, std::string("misaligned access at ") + place(data->location) + ": address " + address + " for " +
                                         data->type->name + ", which needs a multiple of " + std::to_string(alignment));
}
void __ubsan_handle_type_mismatch_v1_abort(TypeMismatch* data, void* pointer) { __ubsan_handle_type_mismatch_v1(data, pointer); }

void __ubsan_handle_out_of_bounds(OutOfBounds* data, void* index) {
  // The index comes by value when it fits a pointer, which every index here does.
  const bool is_signed = (data->index->info & 1) != 0;
  const unsigned bits = 1u << (data->index->info >> 1);
  std::uint64_t value = reinterpret_cast<std::uintptr_t>(index);
  if (is_signed && bits < 64 && (value >> (bits - 1) & 1)) value |= ~std::uint64_t{0} << bits;
  report(cudaErrorIllegalAddress,
         "index " + (is_signed ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value)) +
             " is out of bounds for an array of type " + data->array->name + " at " + place(data->location));
}
void __ubsan_handle_out_of_bounds_abort(OutOfBounds* data, void* index) { __ubsan_handle_out_of_bounds(data, index); }

}  // extern "C"
