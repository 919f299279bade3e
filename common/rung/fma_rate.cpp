// Fused multiply-adds in registers only, as wide as the processor has them.
#include "rung/fma_rate.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <vector>

#include "rung/timer.h"

namespace rung {

namespace {

// Independent sums, enough to hide the latency of a fused multiply-add: 4 cycles, two a cycle, and some to
// spare.
constexpr int kChains = 12;
constexpr int kSteps = 200000;

struct Loop {
  float (*run)();  // kSteps * kChains fused multiply-adds of `lanes` floats; returns a sum, so that none can
                   // be left out
  int lanes;
};

#if defined(__x86_64__)

__attribute__((target("avx512f"))) float run_avx512() {
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(0.9999f), term = _mm512_set1_ps(1e-4f);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12  // keeps the sums in registers
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m512& sum : sums) total += _mm512_cvtss_f32(sum);
  return total;
}

__attribute__((target("avx2,fma"))) float run_avx2() {
  __m256 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(0.9999f), term = _mm256_set1_ps(1e-4f);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12  // keeps the sums in registers
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m256& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

#endif

// A multiply and an add in registers of four floats, which every processor in use has.
typedef float Floats4 __attribute__((vector_size(16)));

float run_portable() {
  Floats4 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = Floats4{} + static_cast<float>(i);
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12  // keeps the sums in registers
    for (Floats4& sum : sums) sum = sum * 0.9999f + 1e-4f;
  }
  float total = 0;
  for (const Floats4& sum : sums) total += sum[0];
  return total;
}

Loop widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {run_avx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {run_avx2, 8};
#endif
  return {run_portable, 4};
}

}  // namespace

double fma_rate(ThreadPool& pool) {
  const Loop loop = widest();
  const size_t threads = static_cast<size_t>(pool.threads());
  std::vector<float> results(threads);
  double best = 0;
  for (int repetition = 0; repetition < 10; ++repetition) {
    const Timer timer;
    pool.parallel_for(threads, [&](size_t thread) { results[thread] = loop.run(); });
    const double operations = 2.0 * kSteps * kChains * loop.lanes * static_cast<double>(threads);
    if (std::isfinite(results[0])) best = std::max(best, operations / timer.seconds());
  }
  return best;
}

}  // namespace rung
