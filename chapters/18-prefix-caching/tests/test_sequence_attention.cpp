// Attention over several sequences: a plain reference in double arithmetic, the same bits in any company, and
// nothing read or written outside a sequence.
#include "ops/sequence_attention.h"

#include <cmath>
#include <limits>

#include "rung/error.h"
#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

struct Sequence {
  int32_t queries, context, first_row;
};

struct Heads {
  int64_t heads, kv_heads, head_dim;
};

// Queries of all sequences, and a cache in which the rows that belong to nobody are NaN.
struct Operands {
  std::vector<Sequence> sequences;
  Heads heads;
  Tensor q, k, v;
  std::vector<int32_t> query_begin = {0}, context, first_row;

  Operands(const std::vector<Sequence>& of, const Heads& h, int64_t rows, float scale = 1)
      : sequences(of),
        heads(h),
        k(random_tensor({rows, h.kv_heads, h.head_dim}, 8, scale)),
        v(random_tensor({rows, h.kv_heads, h.head_dim}, 9)) {
    std::vector<bool> used(static_cast<size_t>(rows));
    for (const Sequence& s : sequences) {
      query_begin.push_back(query_begin.back() + s.queries);
      context.push_back(s.context);
      first_row.push_back(s.first_row);
      std::fill_n(used.begin() + s.first_row, s.context, true);
    }
    q = random_tensor({query_begin.back(), h.heads, h.head_dim}, 7, scale);
    for (int64_t row = 0; row < rows; ++row) {
      if (used[static_cast<size_t>(row)]) continue;
      for (const Tensor* tensor : {&k, &v}) {
        std::fill_n(tensor->data<float>() + row * h.kv_heads * h.head_dim, h.kv_heads * h.head_dim,
                    std::numeric_limits<float>::quiet_NaN());
      }
    }
  }

  template <class Device>
  Tensor run(Device& device, DType dtype = DType::f32) const {
    GuardedOutput<Device> y(device, q.shape());
    const auto stored = [&](const Tensor& tensor) {
      if (dtype == DType::f32) return upload(device, tensor);
      Tensor copy = Tensor::host(dtype, tensor.shape());
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        const float value = tensor.data<float>()[i];
        static_cast<uint16_t*>(copy.raw())[i] = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      }
      return upload(device, copy);
    };
    const AttentionTiles tiles = attention_tiles(query_begin, context);
    std::vector<int32_t> first_block, block_table;  // blocks of one row
    for (size_t s = 0; s < context.size(); ++s) {
      first_block.push_back(static_cast<int32_t>(block_table.size()));
      for (int32_t j = 0; j < context[s]; ++j) block_table.push_back(first_row[s] + j);
    }
    attention(device, y.tensor, upload(device, q), stored(k), stored(v),
              {upload(device, tensor_of(query_begin)), upload(device, tensor_of(context)),
               upload(device, tensor_of(first_block)), query_begin, context, first_block,
               upload(device, tensor_of(tiles.query_begin)), upload(device, tensor_of(tiles.key_begin)),
               tiles.query_begin.back(), tiles.key_begin.back(), upload(device, tensor_of(block_table)),
               block_table, 1});
    return y.values();
  }

  // Sequence s with nobody else in the batch.
  Operands alone(size_t s) const {
    Operands one = *this;
    one.sequences = {sequences[s]};
    one.q = q.slice(query_begin[s], sequences[s].queries);
    one.query_begin = {0, sequences[s].queries};
    one.context = {context[s]};
    one.first_row = {first_row[s]};
    return one;
  }
};

// Empty if y is what the formula gives in double arithmetic, within `tolerance` of the largest value.
std::string check_values(const Tensor& y, const Operands& o, double tolerance) {
  const Heads& h = o.heads;
  const int64_t width = h.kv_heads * h.head_dim;
  for (size_t s = 0; s < o.sequences.size(); ++s) {
    for (int64_t i = 0; i < o.sequences[s].queries; ++i) {
      const int64_t token = o.query_begin[s] + i;
      const int64_t keys = o.sequences[s].context - o.sequences[s].queries + i + 1;
      for (int64_t head = 0; head < h.heads; ++head) {
        const float* query = o.q.data<float>() + (token * h.heads + head) * h.head_dim;
        const int64_t offset = o.first_row[s] * width + head / (h.heads / h.kv_heads) * h.head_dim;
        std::vector<double> weights;
        double largest = -INFINITY, total = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < h.head_dim; ++d)
            score += static_cast<double>(query[d]) * o.k.data<float>()[offset + j * width + d];
          weights.push_back(score / std::sqrt(static_cast<double>(h.head_dim)));
          largest = std::max(largest, weights.back());
        }
        for (double& weight : weights) total += weight = std::exp(weight - largest);
        for (int64_t d = 0; d < h.head_dim; ++d) {
          double sum = 0, magnitude = 0;
          for (int64_t j = 0; j < keys; ++j) {
            const double value = o.v.data<float>()[offset + j * width + d];
            sum += weights[static_cast<size_t>(j)] / total * value;
            magnitude = std::max(magnitude, std::abs(value));
          }
          const double got = y.data<float>()[(token * h.heads + head) * h.head_dim + d];
          if (!(std::abs(got - sum) <= tolerance * magnitude)) {
            return "sequence " + std::to_string(s) + ", query " + std::to_string(i) + ", head " +
                   std::to_string(head) + ": got " + std::to_string(got) + ", expected " +
                   std::to_string(sum);
          }
        }
      }
    }
  }
  return "";
}

// Prefill, the end of a prefill, decode, nothing to do, padding before tokens, nothing but padding.
const std::vector<Sequence> kMixed = {{5, 5, 0},  {3, 20, 10}, {1, 33, 30}, {0, 7, 64},
                                      {6, 4, 72}, {2, 0, 80},  {1, 1, 81},  {13, 16, 83}};
constexpr int64_t kMixedRows = 100;

}  // namespace

TEMPLATE_TEST_CASE("attention of sequences: prefill, decode and padding side by side", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const Heads& heads : {Heads{1, 1, 2}, Heads{6, 3, 64}, Heads{7, 1, 18}, Heads{4, 2, 129}}) {
    INFO(heads.heads << " heads on " << heads.kv_heads << ", head_dim " << heads.head_dim);
    const Operands o(kMixed, heads, kMixedRows);
    // Scores of magnitude 10 or so, off by 2^-24 of the magnitudes of head_dim products each.
    CHECK(check_values(o.run(device), o, 2e-5) == "");
  }
}

TEMPLATE_TEST_CASE("attention of sequences: 16-bit keys and values", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Operands o(kMixed, {6, 2, 64}, kMixedRows, 0.3f);
  CHECK(check_values(o.run(device, DType::f16), o, 2e-3) == "");
  CHECK(check_values(o.run(device, DType::bf16), o, 2e-2) == "");
}

TEMPLATE_TEST_CASE("attention of sequences: the same bits in any company", "[emulated]", Cpu, Cuda) {
  if (std::is_same_v<TestType, Cuda> && !kCudaEmulated) return;
  TestType& device = the_device<TestType>();
  const Operands o(kMixed, {6, 2, 32}, kMixedRows);
  const Tensor together = o.run(device);
  for (size_t s = 0; s < o.sequences.size(); ++s) {
    if (o.sequences[s].queries == 0) continue;
    INFO("sequence " << s);
    CHECK(compare_bits(floats(o.alone(s).run(device)),
                       floats(together.slice(o.query_begin[s], o.sequences[s].queries))) == "");
  }
}

TEMPLATE_TEST_CASE("attention of sequences: many of them, and contexts around a piece", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  std::vector<Sequence> sequences;
  int32_t row = 0;
  for (int32_t s = 0; s < 67; ++s) {
    const int32_t context = s < 10 ? 60 + s : 1 + s % 3;
    sequences.push_back({1, context, row});
    row += context + s % 2;
  }
  const Operands o(sequences, {2, 1, 16}, row);
  CHECK(check_values(o.run(device), o, 2e-5) == "");
}

TEST_CASE("attention of sequences: a context that no shared memory holds") {
  Cuda& device = the_device<Cuda>();
  const Operands o({{1, 59001, 0}, {2, 3, 59001}}, {1, 1, 4}, 59004, 0.3f);
  CHECK(check_values(o.run(device), o, 1e-4) == "");
}

TEST_CASE(
    "attention of sequences on the CPU: the same bits on any number of threads, in prefill and decode") {
  const std::vector<Sequence> whole = {{40, 40, 0}, {7, 90, 50}};
  Cpu one(1);
  const Tensor expected = Operands(whole, {6, 2, 64}, 140).run(one);
  for (const int threads : {2, 3, 7}) {
    Cpu cpu(threads);
    CHECK(compare_bits(floats(Operands(whole, {6, 2, 64}, 140).run(cpu)), floats(expected)) == "");
  }
  const Operands o(whole, {6, 2, 64}, 140);
  for (int32_t t = 0; t < 40; ++t) {
    Operands step = o.alone(0);
    step.sequences = {{1, t + 1, 0}};
    step.q = o.q.slice(t, 1);
    step.query_begin = {0, 1};
    step.context = {t + 1};
    CHECK(compare_bits(floats(step.run(one)), floats(expected.slice(t, 1))) == "");
  }
}

TEST_CASE("attention of sequences: what does not fit is refused") {
  Cpu cpu(1);
  const auto run = [&](auto change) {
    Operands o({{2, 3, 0}, {1, 4, 4}}, {4, 2, 8}, 8);
    change(o);
    o.run(cpu);
  };
  CHECK_NOTHROW(run([](Operands&) {}));
  CHECK_THROWS_WITH(run([](Operands& o) { o.context[1] = 5; }),
                    Catch::Contains("sequence 1 reads block 8 up to row 9, of 8"));
  CHECK_THROWS_WITH(run([](Operands& o) { o.first_row[0] = -1; }), Catch::Contains("block -1"));
  CHECK_THROWS_WITH(run([](Operands& o) { o.query_begin[2] = 2; }), Catch::Contains("3 queries"));
  CHECK_THROWS_WITH(run([](Operands& o) { o.query_begin[1] = 4; }), Catch::Contains("negative"));
}
