// Attention on both devices: transformers' values, a row worked out by hand, exact sums on many shapes, and
// the same bits in prefill and decode.
#include "ops/attention.h"

#include <cmath>
#include <functional>

#include "ops/attention_kernels.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

struct Sizes {
  int64_t tokens, context, heads, kv_heads, head_dim;
};

struct Operands {
  Sizes sizes;
  Tensor q, k, v;
  explicit Operands(const Sizes& s, float scale = 1, uint64_t seed = 7)
      : sizes(s),
        q(random_tensor({s.tokens, s.heads, s.head_dim}, seed, scale)),
        k(random_tensor({s.context, s.kv_heads, s.head_dim}, seed + 1, scale)),
        v(random_tensor({s.context, s.kv_heads, s.head_dim}, seed + 2)) {}
};

std::string text(const Sizes& s) {
  return std::to_string(s.tokens) + " of " + std::to_string(s.context) + " tokens, " +
         std::to_string(s.heads) + " heads on " + std::to_string(s.kv_heads) + ", head_dim " +
         std::to_string(s.head_dim);
}

// Empty if y is softmax(q k^T / sqrt(head_dim)) v in double arithmetic within what float32 allows. A score is
// off by at most (head_dim + 2) roundings of its products' magnitudes, so a weight by the same factor twice
// (its own score and the sum's); exp and the two sums over the keys add `keys` roundings more, and
// product_error what products in a 16-bit type lose.
std::string check_attention_values(const Tensor& y, const Operands& o, double product_error = 0) {
  const Sizes& s = o.sizes;
  const double scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
  const double unit = std::max(std::ldexp(1, -24), product_error);
  for (int64_t t = 0; t < s.tokens; ++t) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const int64_t keys = s.context - s.tokens + t + 1, kv_head = h / (s.heads / s.kv_heads);
      const float* query = o.q.data<float>() + (t * s.heads + h) * s.head_dim;
      std::vector<double> weights(static_cast<size_t>(keys));
      double largest = -INFINITY, score_error = 0, total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        const float* key = o.k.data<float>() + (j * s.kv_heads + kv_head) * s.head_dim;
        double score = 0, magnitude = 0;
        for (int64_t d = 0; d < s.head_dim; ++d) {
          score += static_cast<double>(query[d]) * key[d];
          magnitude += std::abs(static_cast<double>(query[d]) * key[d]);
        }
        weights[static_cast<size_t>(j)] = score * scale;
        largest = std::max(largest, score * scale);
        const double additions = std::ldexp(static_cast<double>(s.head_dim) + 2, -24) + 2 * product_error;
        score_error = std::max(score_error, magnitude * scale * additions);
      }
      for (double& weight : weights) total += weight = std::exp(weight - largest);
      for (int64_t d = 0; d < s.head_dim; ++d) {
        double sum = 0, magnitude = 0;
        for (int64_t j = 0; j < keys; ++j) {
          const double value = o.v.data<float>()[(j * s.kv_heads + kv_head) * s.head_dim + d];
          sum += weights[static_cast<size_t>(j)] / total * value;
          magnitude += weights[static_cast<size_t>(j)] / total * std::abs(value);
        }
        const double got = y.data<float>()[(t * s.heads + h) * s.head_dim + d];
        const double allowed = magnitude * (std::expm1(2 * score_error) +
                                            std::ldexp(2 * static_cast<double>(keys) + 8, -24) + 2 * unit);
        if (!(std::abs(got - sum) <= allowed)) {
          return "token " + std::to_string(t) + ", head " + std::to_string(h) + ", element " +
                 std::to_string(d) + ": got " + std::to_string(got) + ", expected " + std::to_string(sum) +
                 " within " + std::to_string(allowed);
        }
      }
    }
  }
  return "";
}

void contract(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
  attention(device, y, q, k, v);
}
void fused(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
  attention_fused(device, y, q, k, v);
}

struct Kernel {
  const char* name;
  void (*run)(Cuda&, Tensor&, const Tensor&, const Tensor&, const Tensor&);
};
using Kernels = std::vector<Kernel>;
const Kernels kThreeKernels = {
    {"three kernels", [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k,
                         const Tensor& v) { attention_three_kernels(device, y, q, k, v); }},
    {"three kernels, two queries at a time",
     [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
       attention_three_kernels(device, y, q, k, v,
                               static_cast<size_t>(2 * q.shape()[1] * k.shape()[0]) * sizeof(float));
     }},
};
const Kernels kFusedKernels = {
    {"fused", fused},
    {"fused, few threads",
     [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
       attention_fused(device, y, q, k, v, static_cast<int>((q.shape()[2] + 31) / 32 * 32));
     }},
};
const Kernels kCublasKernels = {
    {"cublas", [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k,
                  const Tensor& v) { attention_cublas(device, y, q, k, v); }},
    {"cublas, three queries at a time", [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k,
                                           const Tensor& v) { attention_cublas(device, y, q, k, v, 3); }},
    {"attention", contract},
};

template <class Run>
Tensor on_cuda(const Operands& o, Run run) {
  Cuda& device = the_device<Cuda>();
  GuardedOutput<Cuda> y(device, o.q.shape());
  run(device, y.tensor, upload(device, o.q), upload(device, o.k), upload(device, o.v));
  return y.values();
}

Tensor on_cpu(Cpu& device, const Operands& o) {
  GuardedOutput<Cpu> y(device, o.q.shape());
  attention(device, y.tensor, o.q, o.k, o.v);
  return y.values();
}

Tensor converted(const Tensor& tensor, DType dtype) {
  Tensor copy = Tensor::host(dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const float value = tensor.data<float>()[i];
    static_cast<uint16_t*>(copy.raw())[i] = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
  return copy;
}

Tensor widened(const Tensor& tensor) {
  Tensor copy = Tensor::host(DType::f32, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const uint16_t bits = static_cast<const uint16_t*>(tensor.raw())[i];
    copy.data<float>()[i] = tensor.dtype() == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
  }
  return copy;
}

void check_sizes(const Kernels& kernels) {
  const Sizes cases[] = {{1, 1, 1, 1, 2},   {2, 3, 3, 1, 6},    {3, 5, 6, 3, 32},   {5, 5, 7, 1, 64},
                         {1, 31, 4, 4, 80}, {2, 33, 2, 1, 128}, {4, 17, 4, 2, 256}, {17, 129, 2, 2, 18}};
  for (const Kernel& kernel : kernels) {
    for (const Sizes& sizes : cases) {
      INFO(kernel.name << ": " << text(sizes));
      const Operands o(sizes);
      CHECK(check_attention_values(on_cuda(o, kernel.run), o) == "");
    }
  }
}

void check_sixteen_bits(const Kernels& kernels) {
  for (const Kernel& kernel : kernels) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      INFO(kernel.name << ", " << name(dtype));
      Operands o({5, 19, 6, 2, 64}, 0.5f);
      const Tensor k = converted(o.k, dtype), v = converted(o.v, dtype);
      o.k = widened(k), o.v = widened(v);
      Cuda& device = the_device<Cuda>();
      GuardedOutput<Cuda> y(device, o.q.shape());
      kernel.run(device, y.tensor, upload(device, o.q), upload(device, k), upload(device, v));
      // cuBLAS works on queries and probabilities rounded to that type.
      CHECK(check_attention_values(y.values(), o, dtype == DType::f16 ? 0x1p-11 : 0x1p-8) == "");
    }
  }
}

void check_scores_in_the_thousands(const std::function<Tensor(const Operands&)>& run) {
  // k[j] = (-1)^j * (j + 1) along the query: scores from -1e4 to 1e4.
  constexpr int64_t kContext = 40, kHeadDim = 64;
  Operands o({1, kContext, 2, 1, kHeadDim});
  std::fill_n(o.q.data<float>(), 2 * kHeadDim, 0.0f);
  std::fill_n(o.k.data<float>(), kContext * kHeadDim, 0.0f);
  o.q.data<float>()[0] = 8, o.q.data<float>()[kHeadDim] = -8;
  for (int64_t j = 0; j < kContext; ++j) {
    o.k.data<float>()[j * kHeadDim] = (j % 2 == 0 ? 1.0f : -1.0f) * 250 * static_cast<float>(j + 1);
  }
  const Tensor y = run(o);
  // Head 0 likes key 38 best (9,750 against 9,250), head 1 key 39 (10,000): all others' weights are e^-500
  // at most, 0 in float32.
  CHECK(compare_bits(floats(y).subspan(0, kHeadDim), floats(o.v).subspan(38 * kHeadDim, kHeadDim)) == "");
  CHECK(compare_bits(floats(y).subspan(kHeadDim, kHeadDim), floats(o.v).subspan(39 * kHeadDim, kHeadDim)) ==
        "");
}

}  // namespace

TEMPLATE_TEST_CASE("attention of three keys is what a pencil gives", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  // Two query heads on one key/value head, head_dim 4, so scores are halved: q . k / 2 = ln 1, ln 2, ln 5 for
  // head 0 and equal for head 1. Weights 1/8, 2/8, 5/8 and 1/3 each.
  const float ln2 = 0.6931472f, ln5 = 1.6094379f;
  const Tensor q = tensor_of({2, 0, 0, 0, 0, 7, 0, 0}, {1, 2, 4});
  const Tensor k = tensor_of({0, 1, 0, 0, ln2, 1, 0, 0, ln5, 1, 0, 0}, {3, 1, 4});
  const Tensor v = tensor_of({8, 0, 3, 1, 16, 8, 3, 1, 0, 8, 3, 4}, {3, 1, 4});
  GuardedOutput<TestType> y(device, {1, 2, 4});
  attention(device, y.tensor, upload(device, q), upload(device, k), upload(device, v));
  const std::vector<float> expected = {5, 7, 3, 2.875f, 8, 16.0f / 3, 3, 2};
  CHECK(compare(floats(y.values()), expected, 0, 0x1p-21f) == "");
}

TEMPLATE_TEST_CASE("attention gives transformers' values of layer 0", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const char* fixture : {"llama-rope3", "qwen2-bias", "qwen3"}) {
    INFO(fixture);
    const Reference reference(fixture);
    const Tensor q = reference.array("len7/q_rope"), k = reference.array("len7/k_rope"),
                 v = reference.array("len7/v");
    GuardedOutput<TestType> y(device, q.shape());
    attention(device, y.tensor, upload(device, q), upload(device, k), upload(device, v));
    CHECK(relative_error(floats(y.values()), floats(reference.array("len7/attention"))) <= 64 * 0x1p-24);
  }
}

TEST_CASE("attention on the CPU is right for head groups, head sizes and contexts of all kinds") {
  Cpu cpu(2);
  const Sizes cases[] = {{1, 1, 1, 1, 2},     {1, 2, 3, 1, 6},      {2, 2, 2, 2, 16},    {3, 5, 6, 3, 18},
                         {5, 5, 7, 1, 64},    {1, 63, 9, 3, 64},    {1, 64, 14, 2, 64},  {1, 65, 4, 4, 80},
                         {12, 64, 4, 2, 32},  {13, 77, 7, 1, 128},  {25, 130, 6, 2, 34}, {11, 11, 9, 3, 64},
                         {37, 101, 4, 1, 80}, {4, 129, 40, 1, 256}, {1, 129, 40, 1, 96}};
  for (const Sizes& sizes : cases) {
    INFO(text(sizes));
    const Operands o(sizes);
    CHECK(check_attention_values(on_cpu(cpu, o), o) == "");
  }
}

TEST_CASE("the three attention kernels are right for head groups, head sizes and contexts of all kinds") {
  check_sizes(kThreeKernels);
}

TEST_CASE("the fused attention kernel is right for head groups, head sizes and contexts of all kinds") {
  check_sizes(kFusedKernels);
}

TEST_CASE("attention through cuBLAS is right for head groups, head sizes and contexts of all kinds") {
  check_sizes(kCublasKernels);
}

TEST_CASE("the three attention kernels read keys and values of 16 bits") {
  check_sixteen_bits(kThreeKernels);
}

TEST_CASE("the fused attention kernel reads keys and values of 16 bits") {
  check_sixteen_bits(kFusedKernels);
}

TEST_CASE("attention through cuBLAS reads keys and values of 16 bits") {
  check_sixteen_bits(kCublasKernels);
}

TEST_CASE("attention on the CPU reads keys and values of 16 bits") {
  Cpu cpu(2);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const Sizes& sizes : {Sizes{1, 131, 6, 2, 64}, Sizes{14, 70, 3, 1, 18}}) {
      INFO(text(sizes) << ", " << name(dtype));
      Operands o(sizes);
      const Tensor k = converted(o.k, dtype), v = converted(o.v, dtype);
      o.k = widened(k), o.v = widened(v);
      GuardedOutput<Cpu> y(cpu, o.q.shape());
      attention(cpu, y.tensor, o.q, k, v);
      CHECK(compare_bits(floats(y.values()), floats(on_cpu(cpu, o))) == "");
    }
  }
  const Operands o({1, 3, 1, 1, 32});
  Tensor y = Tensor::host(DType::f32, o.q.shape());
  const Tensor stored = Tensor::host(DType::q8_0, o.k.shape());
  CHECK_THROWS_WITH(attention(cpu, y, o.q, stored, stored), Catch::Contains("Q8_0"));
}

TEST_CASE("scores in the thousands do not overflow and single the largest out, on the CPU") {
  Cpu cpu(1);
  check_scores_in_the_thousands([&](const Operands& o) { return on_cpu(cpu, o); });
}

TEST_CASE("scores in the thousands do not overflow and single the largest out, three kernels") {
  for (const Kernel& kernel : kThreeKernels) {
    check_scores_in_the_thousands([&](const Operands& o) { return on_cuda(o, kernel.run); });
  }
}

TEST_CASE("scores in the thousands do not overflow and single the largest out, fused") {
  for (const Kernel& kernel : kFusedKernels) {
    check_scores_in_the_thousands([&](const Operands& o) { return on_cuda(o, kernel.run); });
  }
}

TEST_CASE("scores in the thousands do not overflow and single the largest out, through cuBLAS") {
  for (const Kernel& kernel : kCublasKernels) {
    check_scores_in_the_thousands([&](const Operands& o) { return on_cuda(o, kernel.run); });
  }
}

TEST_CASE("attention over outliers keeps its tolerance") {
  Cpu cpu(2);
  const Operands o({9, 100, 4, 2, 64}, 2.5f, 99);  // one in 64 elements is 20 times as large
  CHECK(check_attention_values(on_cpu(cpu, o), o) == "");
  for (const Kernels& kernels : {kThreeKernels, kFusedKernels, kCublasKernels}) {
    for (const Kernel& kernel : kernels) {
      INFO(kernel.name);
      CHECK(check_attention_values(on_cuda(o, kernel.run), o) == "");
    }
  }
}

TEST_CASE("attention reaches over long contexts") {
  Cpu cpu(2);
  {
    const Operands o({13, 8209, 2, 1, 64}, 0.3f);
    CHECK(check_attention_values(on_cpu(cpu, o), o) == "");
  }
  // More shared memory than a block gets unasked (12,288 scores), and more than it gets at all.
  const Operands asked({1, 13001, 1, 1, 16}, 0.3f), too_long({1, 70001, 1, 1, 4}, 0.3f);
  CHECK(check_attention_values(on_cuda(asked, fused), asked) == "");
  CHECK(check_attention_values(on_cuda(asked, contract), asked) == "");
  CHECK_FALSE(attention_fits_in_shared_memory(the_device<Cuda>(), 70001, 4));
  CHECK_THROWS_WITH(on_cuda(too_long, fused), Catch::Contains("shared memory"));
  CHECK(check_attention_values(on_cuda(too_long, contract), too_long) == "");
}

TEST_CASE(
    "a query's attention on the CPU has the same bits in prefill and in decode, on any number of threads") {
  for (const Sizes& sizes : {Sizes{33, 70, 6, 2, 64}, Sizes{29, 29, 3, 3, 18}, Sizes{14, 200, 7, 1, 40}}) {
    const Operands o(sizes);
    Cpu one(1);
    const Tensor expected = on_cpu(one, o);
    for (const int threads : {1, 2, 3}) {
      Cpu cpu(threads);
      INFO(text(sizes) << ", " << threads << " threads");
      CHECK(compare_bits(floats(on_cpu(cpu, o)), floats(expected)) == "");
      for (const int64_t step : {1, 2, 5, 13}) {
        for (int64_t t = 0; t < sizes.tokens; t += step) {
          const int64_t tokens = std::min(step, sizes.tokens - t),
                        context = sizes.context - sizes.tokens + t + tokens;
          GuardedOutput<Cpu> y(cpu, {tokens, sizes.heads, sizes.head_dim});
          attention(cpu, y.tensor, o.q.slice(t, tokens), o.k.slice(0, context), o.v.slice(0, context));
          REQUIRE(compare_bits(floats(y.values()), floats(expected.slice(t, tokens))) == "");
        }
      }
    }
  }
}

TEST_CASE("a query's fused attention on CUDA has the same bits in prefill and in decode") {
  Cuda& device = the_device<Cuda>();
  const Sizes sizes{11, 40, 4, 2, 64};
  const Operands o(sizes);
  const Tensor expected = on_cuda(o, fused);
  if (kCudaEmulated) {
    CHECK(compare_bits(floats(on_cuda(o, contract)), floats(expected)) == "");
  }
  for (int64_t t = 0; t < sizes.tokens; ++t) {
    const int64_t context = sizes.context - sizes.tokens + t + 1;
    GuardedOutput<Cuda> y(device, {1, sizes.heads, sizes.head_dim});
    attention_fused(device, y.tensor, upload(device, o.q.slice(t, 1)), upload(device, o.k.slice(0, context)),
                    upload(device, o.v.slice(0, context)));
    CHECK(compare_bits(floats(y.values()), floats(expected.slice(t, 1))) == "");
  }
}

TEST_CASE("a key or value that a query must not see does not reach it, be it infinite") {
  Operands o({9, 21, 4, 2, 64});
  Cpu cpu(2);
  const Tensor clean = on_cpu(cpu, o);
  const int64_t last = 20 * 2 * 64;
  std::fill_n(o.k.data<float>() + last, 128, INFINITY);
  std::fill_n(o.v.data<float>() + last, 128, INFINITY);
  CHECK(compare_bits(floats(on_cpu(cpu, o).slice(0, 8)), floats(clean.slice(0, 8))) == "");
  const Tensor y = on_cuda(o, fused);
  CHECK(check_attention_values(y.slice(0, 8), [&] {
          Operands seen = o;
          seen.sizes.tokens = 8, seen.sizes.context = 20;
          return seen;
        }()) == "");
}

TEST_CASE("attention refuses operands that do not fit") {
  Cpu cpu(1);
  const Operands o({2, 5, 6, 2, 8});
  Tensor y = Tensor::host(DType::f32, o.q.shape());
  CHECK_NOTHROW(attention(cpu, y, o.q, o.k, o.v));
  CHECK_THROWS_WITH(attention(cpu, y, o.q, o.k, random_tensor({5, 2, 9}, 1)),
                    Catch::Contains("attention: v"));
  CHECK_THROWS_WITH(attention(cpu, y, o.q, random_tensor({5, 4, 8}, 1), random_tensor({5, 4, 8}, 1)),
                    Catch::Contains("6 query heads cannot share 4"));
  CHECK_THROWS_WITH(attention(cpu, y, o.q, random_tensor({1, 2, 8}, 1), random_tensor({1, 2, 8}, 1)),
                    Catch::Contains("2 queries") && Catch::Contains("context of 1"));
  CHECK_THROWS_WITH(attention(cpu, y, random_tensor({2, 48}, 1), o.k, o.v),
                    Catch::Contains("[tokens, heads, head_dim]"));
}
