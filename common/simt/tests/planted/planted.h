// Kernels with a planted bug, and the means that must see it. Each case runs in a process of its own, wrong
// and right; the report of the wrong one must name what is expected, the right one must be silent.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace planted {

enum class Means {
  race,      // ThreadSanitizer
  address,   // AddressSanitizer
  always,    // every build
  compiled,  // the compiler's checks: every build without a sanitizer (with one, its own report)
};

struct Case {
  const char* name;
  Means means;
  /// What the report of the wrong kernel holds; "BUG" stands for file:line of a line that the source marks
  /// with `// BUG`.
  std::vector<std::string> report;
  void (*run)(bool wrong, int threads);
  const char* file;
  const char* check;  // RUNG_SIMT_CHECK for the run
};

std::vector<Case>& cases();

struct Register {
  Register(const char* name, Means means, std::vector<std::string> report, void (*run)(bool, int),
           const char* check = "", const char* file = __builtin_FILE()) {
    cases().push_back({name, means, std::move(report), run, file, check});
  }
};

/// Ends the case's process with the error's text on stderr, if there is one.
void check_launch();

/// Device memory for one case.
template <class T>
struct Buffer {
  T* data = nullptr;
  explicit Buffer(std::size_t count, int byte = 0) {
    cudaMalloc(&data, count * sizeof(T));
    cudaMemset(data, byte, count * sizeof(T));
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::vector<T> values(std::size_t count) const {
    std::vector<T> out(count);
    cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
};

}  // namespace planted
