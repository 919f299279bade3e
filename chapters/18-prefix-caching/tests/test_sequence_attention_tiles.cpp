// Attention by tiles over several sequences: exact sums on many shapes, the same bits for a query whatever
// else is computed with it, and nothing read that does not belong to it.
#include <cmath>
#include <numeric>

#include "ops/attention.h"
#include "ops/online_softmax.h"
#include "ops/sequence_attention.h"
#include "ops/sequence_attention_kernels.h"
#include "testing/catch.h"
#include "tests/attention_values.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

struct Sequence {
  int64_t queries, context;
};

struct Heads {
  int64_t heads, kv_heads, head_dim;
};

Tensor converted(const Tensor& tensor, DType dtype) {
  if (dtype == DType::f32) return tensor;
  Tensor copy = Tensor::host(dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const float value = tensor.data<float>()[i];
    static_cast<uint16_t*>(copy.raw())[i] = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
  return copy;
}

Tensor widened(const Tensor& tensor) {
  if (tensor.dtype() == DType::f32) return tensor;
  Tensor copy = Tensor::host(DType::f32, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const uint16_t bits = static_cast<const uint16_t*>(tensor.raw())[i];
    copy.data<float>()[i] = tensor.dtype() == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
  }
  return copy;
}

// A cache in which the sequences lie one behind the other with some rows of infinity between them, which
// nobody may read.
struct Case {
  Heads heads;
  std::vector<Sequence> sequences;
  std::vector<int32_t> query_begin{0}, context, first_row, first_block, block_table;  // blocks of one row
  Tensor q, k, v;

  Case(const Heads& h, const std::vector<Sequence>& list, DType dtype = DType::f32, float scale = 1)
      : heads(h), sequences(list) {
    int32_t row = 3;
    for (const Sequence& s : list) {
      query_begin.push_back(query_begin.back() + static_cast<int32_t>(s.queries));
      context.push_back(static_cast<int32_t>(s.context));
      first_row.push_back(row);
      first_block.push_back(static_cast<int32_t>(block_table.size()));
      for (int32_t j = 0; j < s.context; ++j) block_table.push_back(row + j);
      row += static_cast<int32_t>(s.context) + 5;
    }
    q = random_tensor({query_begin.back(), h.heads, h.head_dim}, 11, scale);
    Tensor keys = random_tensor({row, h.kv_heads, h.head_dim}, 12, scale);
    Tensor values = random_tensor({row, h.kv_heads, h.head_dim}, 13);
    int64_t begin = 0;
    for (size_t s = 0; s <= list.size(); ++s) {
      const int64_t end = s < list.size() ? first_row[s] : row;
      for (int64_t i = begin * h.kv_heads * h.head_dim; i < end * h.kv_heads * h.head_dim; ++i)
        keys.data<float>()[i] = values.data<float>()[i] = INFINITY;
      if (s < list.size()) begin = first_row[s] + list[s].context;
    }
    k = converted(keys, dtype), v = converted(values, dtype);
  }

  template <class Device>
  AttentionSequences on(Device& device) const {
    const auto tensor = [&](const std::vector<int32_t>& values) {
      Tensor host = Tensor::host(DType::i32, {static_cast<int64_t>(values.size())});
      std::copy(values.begin(), values.end(), host.data<int32_t>());
      return upload(device, host);
    };
    const AttentionTiles tiles = attention_tiles(query_begin, context);
    AttentionSequences s;
    s.query_begin = tensor(query_begin), s.context = tensor(context), s.first_block = tensor(first_block);
    s.host_query_begin = query_begin, s.host_context = context, s.host_first_block = first_block;
    s.block_table = tensor(block_table), s.host_block_table = block_table;
    s.query_tile_begin = tensor(tiles.query_begin), s.key_tile_begin = tensor(tiles.key_begin);
    s.query_tiles = tiles.query_begin.back(), s.key_tiles = tiles.key_begin.back();
    return s;
  }

  // The case of sequence s alone, of which only queries [begin, end) are computed.
  Case part(size_t s, int64_t begin, int64_t end) const {
    Case alone = *this;
    const int64_t left = sequences[s].queries - end;
    alone.sequences = {{end - begin, sequences[s].context - left}};
    alone.query_begin = {0, static_cast<int32_t>(end - begin)};
    alone.context = {static_cast<int32_t>(sequences[s].context - left)};
    alone.first_row = {first_row[s]}, alone.first_block = {first_block[s]};
    alone.q = q.slice(query_begin[s] + begin, end - begin);
    return alone;
  }

  // Empty if y is right for each sequence; product_error as in check_attention_values.
  std::string check(const Tensor& y, double product_error = 0) const {
    const Tensor keys = widened(k), values = widened(v);
    for (size_t s = 0; s < sequences.size(); ++s) {
      const Sequence& sequence = sequences[s];
      const std::string error = check_attention_values(
          y.slice(query_begin[s], sequence.queries), q.slice(query_begin[s], sequence.queries),
          keys.slice(first_row[s], sequence.context), values.slice(first_row[s], sequence.context),
          sequence.context - sequence.queries + 1, product_error);
      if (!error.empty()) return "sequence " + std::to_string(s) + ": " + error;
    }
    return "";
  }
};

template <class Device, class Run>
Tensor run(Device& device, const Case& c, Run kernel) {
  GuardedOutput<Device> y(device, c.q.shape());
  kernel(device, y.tensor, upload(device, c.q), upload(device, c.k), upload(device, c.v), c.on(device));
  return y.values();
}

template <class Device>
Tensor run(Device& device, const Case& c) {
  return run(device, c,
             [](Device& d, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                const AttentionSequences& s) { attention(d, y, q, k, v, s); });
}

// The kernels whose result does not depend on what else is computed, on a GPU too.
void invariant(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences) {
  attention_prefill_tiled(device, y, q, k, v, sequences);
  attention_decode_split(device, y, q, k, v, sequences);
}
void invariant(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences) {
  attention(device, y, q, k, v, sequences);
}

const auto kInvariant = [](auto& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionSequences& s) { invariant(device, y, q, k, v, s); };
const auto kPrefill = [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                         const AttentionSequences& s) { attention_prefill_tiled(device, y, q, k, v, s); };
const auto kTensorCores = [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSequences& s) {
  attention_prefill_tensor_cores(device, y, q, k, v, s);
  attention_decode_split(device, y, q, k, v, s);
};

}  // namespace

TEST_CASE("online softmax: parts of a row merge into the whole") {
  // Scores 0, ln 2 | ln 5: maxima ln 2 and ln 5, sums 1/2 + 1 and 1, together 8/5 of the larger maximum.
  const float ln2 = 0.6931472f, ln5 = 1.6094379f;
  SoftmaxState total{ln2, 1.5f};
  const MergeFactors factors = merge(total, {ln5, 1});
  CHECK(total.maximum == ln5);
  CHECK(total.sum == Approx(1.6).epsilon(1e-6));
  CHECK(factors.kept == Approx(0.4).epsilon(1e-6));
  CHECK(factors.added == 1);

  // From nothing, with nothing, and with scores that no float32 exponential holds.
  SoftmaxState state;
  CHECK(merge(state, SoftmaxState{}).added == 0);
  CHECK(merge(state, {-2000, 1}).added == 1);
  CHECK(merge(state, SoftmaxState{}).kept == 1);
  CHECK(merge(state, {1000, 3}).kept == 0);
  CHECK(state.maximum == 1000);
  CHECK(state.sum == 3);
}

TEST_CASE("online softmax: attention a key at a time is attention") {
  for (const int64_t context : {1, 5, 64, 131}) {
    const Tensor q = random_tensor({1, 4, 18}, 1), k = random_tensor({context, 2, 18}, 2),
                 v = random_tensor({context, 2, 18}, 3);
    Tensor y = Tensor::host(DType::f32, q.shape());
    attention_one_pass(y, q, k, v);
    CHECK(check_attention_values(y, q, k, v, context) == "");
  }
}

TEMPLATE_TEST_CASE("attention by tiles: contexts around the tile's length, one query or all", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const Heads& heads : {Heads{4, 2, 64}, Heads{3, 1, 18}}) {
    const Case c(heads, {{1, 1}, {1, 63}, {63, 63}, {1, 64}, {3, 64}, {65, 65}, {1, 65}, {33, 130}, {2, 2}});
    CHECK(c.check(run(device, c)) == "");
  }
}

TEST_CASE("attention by tiles: the prefill kernel is right for queries and contexts around its tiles") {
  Cuda& device = the_device<Cuda>();
  for (const Heads& heads : {Heads{4, 2, 64}, Heads{3, 1, 18}, Heads{2, 2, 128}}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      INFO(heads.heads << " on " << heads.kv_heads << ", head_dim " << heads.head_dim << ", " << name(dtype));
      const Case c(heads, {{2, 2}, {63, 63}, {3, 64}, {65, 65}, {16, 80}, {33, 130}}, dtype, 0.5f);
      CHECK(c.check(run(device, c, kPrefill)) == "");
    }
  }
}

TEST_CASE("attention by tiles: the parts of a decode step merge into the whole") {
  Cuda& device = the_device<Cuda>();
  for (const Heads& heads : {Heads{3, 1, 18}, Heads{2, 1, 256}}) {
    INFO(heads.heads << " heads, head_dim " << heads.head_dim);
    // Sequences of 4, 1 and 2 tiles; that of three queries is none of this kernel's.
    const Case c(heads, {{1, 200}, {3, 64}, {1, 5}, {1, 70}});
    const std::vector<int64_t> tiles = {0, 4, 4, 5, 7};
    Tensor states = random_tensor({7, heads.heads, 2}, 1),
           sums = random_tensor({7, heads.heads, heads.head_dim}, 2);
    for (int64_t i = 0; i < states.elements(); ++i) {
      float& value = states.data<float>()[i];
      value = i % 2 == 0 ? std::fmod(value, 8.0f) : 1 + std::abs(value);  // a maximum; a sum of at least 1
    }
    std::vector<float> expected(static_cast<size_t>(c.q.elements()), NAN);
    double largest = 0;
    for (size_t s = 0; s < c.sequences.size(); ++s) {
      if (c.sequences[s].queries != 1) continue;
      for (int64_t h = 0; h < heads.heads; ++h) {
        for (int64_t d = 0; d < heads.head_dim; ++d) {
          double weights = 0, values = 0, magnitude = 0;
          for (int64_t tile = tiles[s]; tile < tiles[s + 1]; ++tile) {
            const float* state = states.data<float>() + (tile * heads.heads + h) * 2;
            const double factor = std::exp(static_cast<double>(state[0]));
            const double value = sums.data<float>()[(tile * heads.heads + h) * heads.head_dim + d];
            weights += factor * state[1], values += factor * value, magnitude += factor * std::abs(value);
          }
          largest = std::max(largest, magnitude / weights);
          expected[static_cast<size_t>((c.query_begin[s] * heads.heads + h) * heads.head_dim + d)] =
              static_cast<float>(values / weights);
        }
      }
    }
    GuardedOutput<Cuda> y(device, c.q.shape());
    attention_merge_tiles(device, y.tensor, upload(device, states), upload(device, sums), c.on(device));
    // Four merges, each with roundings of a difference of up to 16, of exp, of products and sums.
    const auto allowed = static_cast<float>(largest * 4 * 24 * 0x1p-24);
    CHECK(compare(floats(y.values()), expected, allowed) == "");
  }
}

TEMPLATE_TEST_CASE("attention by tiles: a long context, with outliers", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Case c({2, 1, 64}, {{1, 4097}, {3, 4097}}, DType::f32, 0.7f);
  CHECK(c.check(run(device, c)) == "");
  // Longer than the scores that a multiprocessor's shared memory holds.
  const Case longer({1, 1, 4}, {{1, 70001}}, DType::f32, 0.3f);
  CHECK(longer.check(run(device, longer)) == "");
}

TEMPLATE_TEST_CASE("attention by tiles: head sizes, head groups and types of all kinds", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Heads cases[] = {{1, 1, 2}, {3, 1, 6}, {19, 1, 8}, {7, 1, 80}, {4, 4, 96}, {5, 1, 128}, {10, 1, 256}};
  for (const Heads& heads : cases) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      INFO(heads.heads << " on " << heads.kv_heads << ", head_dim " << heads.head_dim << ", " << name(dtype));
      const Case c(heads, {{1, 37}, {5, 70}}, dtype, 0.5f);
      CHECK(c.check(run(device, c, kInvariant)) == "");
    }
  }
}

TEST_CASE("attention by tiles: the products on tensor cores round to 16 bits and no further") {
  Cuda& device = the_device<Cuda>();
  for (const int64_t head_dim : {64, 80, 96, 128, 256}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      INFO("head_dim " << head_dim << ", " << name(dtype));
      // 130 queries: more than a block's and more than a tile's.
      const int64_t many = head_dim == 64 && dtype == DType::bf16 ? 130 : 19;
      const Case c({2, 1, head_dim}, {{many, many + 3}, {1, 9}, {17, 80}}, dtype, 0.5f);
      const Tensor y = run(device, c, kTensorCores);
      CHECK(c.check(y, dtype == DType::f16 ? 0x1p-11 : 0x1p-8) == "");
    }
  }
  CHECK_FALSE(tensor_cores_fit(Tensor::host(DType::f32, {1, 1, 64})));
  CHECK_FALSE(tensor_cores_fit(Tensor::host(DType::bf16, {1, 1, 72})));
}

TEMPLATE_TEST_CASE("attention by tiles: a query has the same bits alone, in a batch, in prefill, in decode",
                   "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Case c({3, 1, 64}, {{1, 66}, {39, 141}, {2, 3}, {1, 1}, {5, 64}}, dtype);
    const Tensor all = run(device, c, kInvariant);
    for (size_t s = 0; s < c.sequences.size(); ++s) {
      for (const int64_t chunk : {1, 3, 16, 39}) {
        for (int64_t begin = 0; begin < c.sequences[s].queries; begin += chunk) {
          // Of a long sequence, chunks of one query only around the tile's border.
          if (chunk < 16 && begin > 1 && begin < c.sequences[s].queries - 6 && begin % 13 != 0) continue;
          const int64_t end = std::min(begin + chunk, c.sequences[s].queries);
          INFO("sequence " << s << ", queries " << begin << " to " << end << ", " << name(dtype));
          REQUIRE(compare_bits(floats(run(device, c.part(s, begin, end), kInvariant)),
                               floats(all.slice(c.query_begin[s] + begin, end - begin))) == "");
        }
      }
    }
  }
}

TEST_CASE("attention by tiles: on the CPU the number of threads does not matter") {
  const Case c({6, 2, 64}, {{1, 66}, {39, 141}, {2, 3}});
  Cpu one(1), three(3);
  CHECK(compare_bits(floats(run(one, c)), floats(run(three, c))) == "");
}

TEMPLATE_TEST_CASE("attention by tiles: what a query must not see does not reach it, be it infinite", "", Cpu,
                   Cuda) {
  TestType& device = the_device<TestType>();
  const Case clean({4, 2, 64}, {{9, 70}});
  Case c = clean;
  c.k = clean.k.slice(0, clean.k.shape()[0]), c.v = Tensor::host(DType::f32, clean.v.shape());
  std::copy_n(clean.v.data<float>(), clean.v.elements(), c.v.data<float>());
  const int64_t last = (c.first_row[0] + 69) * 2 * 64;
  std::fill_n(c.v.data<float>() + last, 128, INFINITY);
  CHECK(compare_bits(floats(run(device, c, kInvariant).slice(0, 8)),
                     floats(run(device, clean, kInvariant).slice(0, 8))) == "");
}

TEMPLATE_TEST_CASE("attention by tiles: padding gives zeros", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Case c({2, 1, 64}, {{3, 3}, {1, 1}, {2, 2}});
  c.context = {1, 0, 0};
  const Tensor y = run(device, c);
  for (const int64_t query : {0, 1, 3, 4, 5}) {
    CHECK(compare_bits(floats(y.slice(query, 1)), std::vector<float>(128, 0.0f)) == "");
  }
  CHECK(compare(floats(y.slice(2, 1)).subspan(0, 64), floats(c.v.slice(c.first_row[0], 1)), 0, 0x1p-22f) ==
        "");
}
