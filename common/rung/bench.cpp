// The measuring harness: repetitions, medians, and the rates of the machine that results are compared with.
#include "rung/bench.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <memory>
#include <sstream>
#include <type_traits>

#include "rung/aligned.h"
#include "rung/error.h"
#include "rung/fma_rate.h"
#include "rung/table.h"
#include "rung/timer.h"

namespace rung {

namespace {

constexpr int kFewest = 3, kMost = 1000;  // repetitions

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Repeats `once`, which returns the seconds of one call, until `budget` seconds have passed.
template <class Once>
std::vector<double> repeat(double budget, Once once) {
  std::vector<double> seconds;
  const Timer timer;
  do {
    seconds.push_back(once());
  } while (static_cast<int>(seconds.size()) < kMost &&
           (static_cast<int>(seconds.size()) < kFewest || timer.seconds() < budget));
  return seconds;
}

// Twice a usual last-level cache, or on an emulator that has none, little.
size_t cuda_flush_bytes(const Cuda& device) {
  return std::max<size_t>(2 * static_cast<size_t>(device.properties().l2CacheSize), size_t{1} << 20);
}

// Twice the last-level cache where the system says how large it is; at least 64 MiB, at most 512.
size_t cpu_flush_bytes() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp<size_t>(cache > 0 ? 2 * static_cast<size_t>(cache) : 0, size_t{64} << 20,
                            size_t{512} << 20);
}

// Touching more memory than the caches hold drives everything else out of them.
class CpuCaches {
 public:
  explicit CpuCaches(ThreadPool& pool)
      : pool_(pool), size_(cpu_flush_bytes()), memory_(allocate_aligned(size_)) {}
  void empty() {
    const size_t parts = static_cast<size_t>(pool_.threads());
    ++value_;
    pool_.parallel_for(parts, [&](size_t part) {
      auto* bytes = static_cast<unsigned char*>(memory_.get());
      const size_t begin = size_ / parts * part;
      std::memset(bytes + begin, value_, size_ / parts);
    });
  }

 private:
  ThreadPool& pool_;
  size_t size_;
  std::shared_ptr<void> memory_;
  unsigned char value_ = 0;
};

std::vector<double> time_calls(Cpu& device, double budget, const std::function<void()>& call) {
  CpuCaches caches(device.pool);
  call();
  return repeat(budget, [&] {
    caches.empty();
    const Timer timer;
    call();
    return timer.seconds();
  });
}

std::vector<double> time_calls(Cuda& device, double budget, const std::function<void()>& call) {
  const size_t bytes = cuda_flush_bytes(device);
  const std::shared_ptr<void> memory = allocate_device(bytes);
  call();
  device.synchronize();
  CudaEvent begin, end;
  return repeat(budget, [&] {
    RUNG_CUDA_CHECK(cudaMemsetAsync(memory.get(), 1, bytes, device.stream()));
    begin.record(device.stream());
    call();
    end.record(device.stream());
    return end.milliseconds_since(begin) * 1e-3;
  });
}

double measure_copy(Cpu& device) {
  const size_t bytes = cpu_flush_bytes();
  const std::shared_ptr<void> from = allocate_aligned(bytes), to = allocate_aligned(bytes);
  const size_t parts = static_cast<size_t>(device.pool.threads());
  const double seconds = median(time_calls(device, 0.3, [&] {
    device.pool.parallel_for(parts, [&](size_t part) {
      const size_t begin = bytes / parts * part;
      std::memcpy(static_cast<char*>(to.get()) + begin, static_cast<char*>(from.get()) + begin,
                  bytes / parts);
    });
  }));
  return 2.0 * static_cast<double>(bytes / parts * parts) / seconds;
}

double measure_copy(Cuda& device) {
  // Large enough that starting the copy does not count: eight times the L2, at least 16 MiB.
  const size_t bytes =
      std::max<size_t>(8 * static_cast<size_t>(device.properties().l2CacheSize), size_t{16} << 20);
  const std::shared_ptr<void> from = allocate_device(bytes), to = allocate_device(bytes);
  const double seconds = median(time_calls(device, 0.3, [&] {
    RUNG_CUDA_CHECK(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, device.stream()));
  }));
  return 2.0 * static_cast<double>(bytes) / seconds;
}

double measure_gemm(Cpu& device) {
  return fma_rate(device.pool);
}

double measure_gemm(Cuda& device, Arithmetic arithmetic) {
  const int n = kCudaEmulated ? 128 : 4096;  // the emulator multiplies on the host
  const size_t bytes = sizeof(float) * n * n;
  const cudaDataType_t type = arithmetic == Arithmetic::f32   ? CUDA_R_32F
                              : arithmetic == Arithmetic::f16 ? CUDA_R_16F
                                                              : CUDA_R_16BF;
  const cublasComputeType_t compute =
      arithmetic == Arithmetic::f32 ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
  const std::shared_ptr<void> a = allocate_device(bytes), b = allocate_device(bytes),
                              c = allocate_device(bytes);
  RUNG_CUDA_CHECK(cudaMemsetAsync(a.get(), 0, bytes, device.stream()));
  RUNG_CUDA_CHECK(cudaMemsetAsync(b.get(), 0, bytes, device.stream()));
  const float one = 1, zero = 0;
  const double seconds = median(time_calls(device, 0.3, [&] {
    RUNG_CUBLAS_CHECK(cublasGemmEx(device.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, a.get(), type, n,
                                   b.get(), type, n, &zero, c.get(), CUDA_R_32F, n, compute,
                                   CUBLAS_GEMM_DEFAULT));
  }));
  return 2.0 * n * static_cast<double>(n) * n / seconds;
}

// The CPU multiplies in float32, whatever the weights are stored in.
std::string gemm_name(const Cpu&, Arithmetic) {
  return "gemm";
}
std::string gemm_name(const Cuda&, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f32 ? "gemm" : arithmetic == Arithmetic::f16 ? "f16 gemm" : "bf16 gemm";
}

std::string rate(double per_second, const char* unit) {
  return fixed(per_second / 1e9, per_second < 1e10 ? 2 : 1) + " " + unit;
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fixed(seconds * 1e6, 2) + " us";
  if (seconds < 1) return fixed(seconds * 1e3, 3) + " ms";
  return fixed(seconds, 3) + " s";
}

template <class Measure>
double once_a_run(std::map<std::string, double>& rates, const std::string& key, Measure measure) {
  const auto found = rates.find(key);
  if (found != rates.end()) return found->second;
  return rates[key] = measure();
}

}  // namespace

template <class Device>
void Bench::finish(Device& device, BenchResult result) {
  result.part = part_;
  result.device = Device::kName;
  if (result.seconds > 0) {
    result.bytes_per_second = result.work.bytes / result.seconds;
    result.flops_per_second = result.work.flops / result.seconds;
    // What the emulator copies and multiplies says nothing about a GPU.
    constexpr bool emulated = kCudaEmulated && std::is_same_v<Device, Cuda>;
    if (settings_.compare && !emulated && (result.work.bytes > 0 || result.work.flops > 0)) {
      const double moving = result.work.bytes > 0 ? result.work.bytes / copy_rate(device) : 0;
      const double multiplying =
          result.work.flops > 0 ? result.work.flops / gemm_rate(device, result.work.arithmetic) : 0;
      result.share = std::max(moving, multiplying) / result.seconds;
      result.share_of = moving >= multiplying ? "copy" : gemm_name(device, result.work.arithmetic);
    }
  }
  results_.push_back(std::move(result));
  if (on_result) on_result(results_.back());
}

void Bench::measure(Cpu& device, const std::string& name, const std::string& shape, Work work,
                    const std::function<void()>& call) {
  const std::vector<double> seconds = time_calls(device, settings_.seconds, call);
  BenchResult result;
  result.name = name;
  result.shape = shape;
  result.work = work;
  result.seconds = median(seconds);
  result.repetitions = static_cast<int>(seconds.size());
  finish(device, std::move(result));
}

void Bench::measure(Cuda& device, const std::string& name, const std::string& shape, Work work,
                    const std::function<void()>& call) {
  const std::vector<double> seconds = time_calls(device, settings_.seconds, call);
  BenchResult result;
  result.name = name;
  result.shape = shape;
  result.work = work;
  result.seconds = median(seconds);
  result.repetitions = static_cast<int>(seconds.size());
  finish(device, std::move(result));
}

void Bench::record(Cpu& device, BenchResult result) {
  finish(device, std::move(result));
}
void Bench::record(Cuda& device, BenchResult result) {
  finish(device, std::move(result));
}

double Bench::copy_rate(Cpu& device) {
  return once_a_run(rates_, "cpu copy", [&] { return measure_copy(device); });
}
double Bench::copy_rate(Cuda& device) {
  return once_a_run(rates_, "cuda copy", [&] { return measure_copy(device); });
}
double Bench::gemm_rate(Cpu& device, Arithmetic) {
  return once_a_run(rates_, "cpu gemm", [&] { return measure_gemm(device); });
}
double Bench::gemm_rate(Cuda& device, Arithmetic arithmetic) {
  return once_a_run(rates_, "cuda " + gemm_name(device, arithmetic),
                    [&] { return measure_gemm(device, arithmetic); });
}

std::string text(const BenchResult& result) {
  std::ostringstream line;
  line << std::left << std::setw(10) << result.part << "  " << std::setw(30) << result.name;
  if (!result.shape.empty()) line << "  " << std::setw(26) << result.shape;
  line << std::right;
  if (result.seconds > 0) line << "  " << std::setw(10) << duration(result.seconds);
  if (result.work.bytes > 0) line << "  " << std::setw(12) << rate(result.bytes_per_second, "GB/s");
  if (result.work.flops > 0) line << "  " << std::setw(15) << rate(result.flops_per_second, "GFLOP/s");
  if (result.share > 0)
    line << "  " << std::setw(5) << fixed(result.share * 100, 1) << "% of " << result.share_of;
  for (const Figure& figure : result.figures) {
    line << "  " << figure.name << " ";
    line << (!figure.text.empty() ? figure.text : fixed(figure.number, 2));
    if (figure.text.empty() && !figure.unit.empty()) line << " " << figure.unit;
  }
  return line.str();
}

}  // namespace rung
