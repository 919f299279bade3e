// RoPE on both devices, against the angles, sines and turned heads that transformers computes.
#include <algorithm>
#include <cmath>

#include "model_file/model_file.h"
#include "ops/rope.h"
#include "ops/rope_kernels.h"
#include "ops/rope_pair.h"
#include "rung/error.h"
#include "tensor/decode.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/data/rope_partial.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

// tests/fixtures/rope.f32 holds these shapes at these positions.
const std::vector<int32_t> kPositions = {0, 1, 2, 3, 63, 64, 65, 1000, 8191, 8192, 8193, 40000, 131071};

RopeParameters plain(int dims, float base) {
  RopeParameters rope;
  rope.dims = dims;
  rope.base = base;
  return rope;
}

RopeParameters llama3(int dims, float base, float factor, int original_context) {
  RopeParameters rope = plain(dims, base);
  rope.scaling = RopeScaling::llama3;
  rope.factor = factor;
  rope.low_frequency_factor = 1;
  rope.high_frequency_factor = 4;
  rope.original_context_length = original_context;
  return rope;
}

RopeParameters linear(int dims, float base, float factor) {
  RopeParameters rope = plain(dims, base);
  rope.scaling = RopeScaling::linear;
  rope.factor = factor;
  return rope;
}

struct KnownShape {
  const char* name;
  RopeParameters rope;
};

const KnownShape kShapes[] = {{"default-16", plain(16, 10000)},
                              {"default-64-base-100000", plain(64, 100000)},
                              {"default-128-base-1000000", plain(128, 1000000)},
                              {"linear-24-by-4", linear(24, 10000, 4)},
                              {"llama3-16-small", llama3(16, 10000, 32, 64)},
                              {"llama3-64", llama3(64, 500000, 32, 8192)},
                              {"llama3-128-factor-8", llama3(128, 500000, 8, 8192)}};

using Rope = void (*)(Cuda&, Tensor&, const Tensor&, const Tensor&, RopePairing);

// x turned by rope() on Device.
template <class Device>
Tensor turned(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopePairing pairing) {
  Device& device = the_device<Device>();
  GuardedOutput<Device> y(device, x.shape());
  copy(device, y.tensor, upload(device, x));
  rope(device, y.tensor, upload(device, positions), upload(device, frequencies), pairing);
  return y.values();
}

Tensor turned_by(Rope kernel, const Tensor& x, const Tensor& positions, const Tensor& frequencies,
                 RopePairing pairing) {
  Cuda& device = the_device<Cuda>();
  GuardedOutput<Cuda> y(device, x.shape());
  copy(device, y.tensor, upload(device, x));
  kernel(device, y.tensor, upload(device, positions), upload(device, frequencies), pairing);
  return y.values();
}

Tensor first_positions(int32_t tokens) {
  std::vector<int32_t> positions;
  for (int32_t i = 0; i < tokens; ++i) positions.push_back(i);
  return tensor_of(positions);
}

}  // namespace

TEST_CASE("which two elements of a head turn together") {
  // A head of which 8 elements turn, so 4 pairs: neighbours, or the same place in the two halves.
  const int64_t neighbours[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}},
                halves[][2] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  for (int64_t i = 0; i < 4; ++i) {
    const RopePair interleaved = rope_pair(RopePairing::interleaved, i, 4),
                   half_split = rope_pair(RopePairing::half_split, i, 4);
    INFO("pair " << i);
    CHECK(interleaved.first == neighbours[i][0]);
    CHECK(interleaved.second == neighbours[i][1]);
    CHECK(half_split.first == halves[i][0]);
    CHECK(half_split.second == halves[i][1]);
  }
}

TEST_CASE("inverse frequencies equal transformers'") {
  const Reference reference("rope");
  for (const KnownShape& shape : kShapes) {
    INFO(shape.name);
    const Tensor frequencies = rope_inverse_frequencies(shape.rope);
    // PyTorch's powf may differ in the last bit.
    CHECK(compare(floats(frequencies), floats(reference.array(std::string(shape.name) + "/frequencies")), 0,
                  3 * 0x1p-24f) == "");
  }
}

TEMPLATE_TEST_CASE("rope turns the unit vector to transformers' cosines and sines up to position 131071", "",
                   Cpu, Cuda) {
  const Reference reference("rope");
  for (const KnownShape& shape : kShapes) {
    for (const RopePairing pairing : {RopePairing::half_split, RopePairing::interleaved}) {
      const std::string prefix = std::string(shape.name) + "/";
      const int64_t tokens = static_cast<int64_t>(kPositions.size()), pairs = shape.rope.dims / 2;
      Tensor x = Tensor::host(DType::f32, {tokens, 1, 2 * pairs});
      const auto first = [&](int64_t i) { return pairing == RopePairing::interleaved ? 2 * i : i; };
      const auto second = [&](int64_t i) {
        return pairing == RopePairing::interleaved ? 2 * i + 1 : i + pairs;
      };
      for (int64_t token = 0; token < tokens; ++token) {
        for (int64_t i = 0; i < pairs; ++i) x.data<float>()[token * 2 * pairs + first(i)] = 1;
      }
      const Tensor y =
          turned<TestType>(x, tensor_of(kPositions), reference.array(prefix + "frequencies"), pairing);
      std::vector<float> cosines, sines;
      for (int64_t token = 0; token < tokens; ++token) {
        for (int64_t i = 0; i < pairs; ++i) {
          cosines.push_back(y.data<float>()[token * 2 * pairs + first(i)]);
          sines.push_back(y.data<float>()[token * 2 * pairs + second(i)]);
        }
      }
      INFO(shape.name << (pairing == RopePairing::interleaved ? ", interleaved" : ", half-split"));
      CHECK(compare(cosines, floats(reference.array(prefix + "cos")), 3e-7f) == "");
      CHECK(compare(sines, floats(reference.array(prefix + "sin")), 3e-7f) == "");
    }
  }
}

TEMPLATE_TEST_CASE("rope with half-split pairs equals transformers' Q and K", "", Cpu, Cuda) {
  const std::string name = GENERATE("llama-rope3", "llama-linear", "llama-untied", "qwen2-bias", "qwen3");
  const Reference reference(name);
  const auto model = open_model(fixture_path(name));
  const RopeParameters& parameters = model->hyperparameters().rope;
  REQUIRE(parameters.pairing == RopePairing::half_split);
  const Tensor frequencies = rope_inverse_frequencies(parameters);
  CHECK(compare(floats(frequencies), floats(reference.array("rope_frequencies")), 0, 3 * 0x1p-24f) == "");
  for (const std::string which : {"q", "k"}) {
    const std::string before = "len7/" + which, normed = before + "_norm";
    const Tensor x = reference.array(reference.has(normed) ? normed : before);
    const Tensor y = turned<TestType>(x, first_positions(7), frequencies, RopePairing::half_split);
    INFO(name << " " << which);
    CHECK(compare(floats(y), floats(reference.array(before + "_rope")), 2e-6f) == "");
  }
}

TEMPLATE_TEST_CASE("rope equals transformers' Q and K far past the original context", "", Cpu, Cuda) {
  const Reference reference("llama-rope3");
  const auto model = open_model(fixture_path("llama-rope3"));
  const Tensor frequencies = rope_inverse_frequencies(model->hyperparameters().rope);
  for (const std::string which : {"q", "k"}) {
    const Tensor y = turned<TestType>(reference.array("len300/rows/" + which),
                                      tensor_of({0, 1, 150, 298, 299}), frequencies, RopePairing::half_split);
    CHECK(compare(floats(y), floats(reference.array("len300/rows/" + which + "_rope")), 1e-5f) == "");
  }
}

TEST_CASE("the frequency factors that a GGUF file stores give the frequencies of llama3 scaling") {
  const Reference reference("llama-rope3");
  const RopeParameters rope = open_model(fixture_path("llama-rope3.gguf"))->hyperparameters().rope;
  REQUIRE(rope.frequency_factors.size() == 8);
  CHECK(*std::max_element(rope.frequency_factors.begin(), rope.frequency_factors.end()) == 32);
  CHECK(compare(floats(rope_inverse_frequencies(rope)), floats(reference.array("rope_frequencies")), 0,
                4 * 0x1p-24f) == "");
}

TEMPLATE_TEST_CASE("rope with interleaved pairs on a GGUF file's permuted rows gives transformers' scores",
                   "", Cpu, Cuda) {
  const Reference reference("llama-untied");
  const auto model = open_model(fixture_path("llama-untied.gguf"));
  const Hyperparameters& h = model->hyperparameters();
  REQUIRE(h.rope.pairing == RopePairing::interleaved);
  const Tensor frequencies = rope_inverse_frequencies(h.rope);
  // x [7, hidden] times a weight's rows, in float64.
  const auto projected = [&](const char* weight, int heads) {
    const Tensor w = to_f32(model->tensor(weight, {heads * h.head_dim, h.hidden}));
    const Tensor x = reference.array("len7/attn_norm");
    Tensor y = Tensor::host(DType::f32, {7, heads, h.head_dim});
    for (int64_t token = 0; token < 7; ++token) {
      for (int64_t o = 0; o < w.shape()[0]; ++o) {
        double sum = 0;
        for (int64_t i = 0; i < h.hidden; ++i) {
          sum +=
              static_cast<double>(x.data<float>()[token * h.hidden + i]) * w.data<float>()[o * h.hidden + i];
        }
        y.data<float>()[token * w.shape()[0] + o] = static_cast<float>(sum);
      }
    }
    return y;
  };
  // q . k for all pairs of tokens: the order of elements within a head does not matter there.
  const auto scores = [&](const Tensor& q, const Tensor& k) {
    std::vector<float> result;
    for (int64_t head = 0; head < h.heads; ++head) {
      for (int64_t i = 0; i < 7; ++i) {
        for (int64_t j = 0; j < 7; ++j) {
          const float* a = q.data<float>() + (i * h.heads + head) * h.head_dim;
          const float* b = k.data<float>() + (j * h.kv_heads + head / (h.heads / h.kv_heads)) * h.head_dim;
          double sum = 0;
          for (int c = 0; c < h.head_dim; ++c) sum += static_cast<double>(a[c]) * b[c];
          result.push_back(static_cast<float>(sum));
        }
      }
    }
    return result;
  };
  const Tensor positions = first_positions(7);
  const Tensor q = turned<TestType>(projected("blk.0.attn_q.weight", h.heads), positions, frequencies,
                                    RopePairing::interleaved);
  const Tensor k = turned<TestType>(projected("blk.0.attn_k.weight", h.kv_heads), positions, frequencies,
                                    RopePairing::interleaved);
  const std::vector<float> expected = scores(reference.array("len7/q_rope"), reference.array("len7/k_rope"));
  CHECK(relative_error(scores(q, k), expected) < 5e-6);
  // The other pairing on the same rows is wrong, and visibly so.
  const Tensor wrong_q = turned<TestType>(projected("blk.0.attn_q.weight", h.heads), positions, frequencies,
                                          RopePairing::half_split);
  CHECK(relative_error(scores(wrong_q, k), expected) > 1e-3);
}

TEMPLATE_TEST_CASE("only the leading elements of a head turn where the model says so", "", Cpu, Cuda) {
  using namespace rope_partial;
  const std::vector<float> input(std::begin(kInput), std::end(kInput));
  const Tensor x = tensor_of(input, {3, 2, 10}), positions = tensor_of({0, 5, 9000});
  const Tensor frequencies = rope_inverse_frequencies(plain(6, 10000));
  // At position 9000 the last bit of the largest frequency below 1 moves an element by about 1e-6.
  CHECK(compare(floats(turned<TestType>(x, positions, frequencies, RopePairing::interleaved)), kInterleaved,
                4e-6f) == "");
  CHECK(compare(floats(turned<TestType>(x, positions, frequencies, RopePairing::half_split)), kHalfSplit,
                4e-6f) == "");
}

TEST_CASE("each rope kernel agrees with the CPU on all kinds of sizes") {
  const int64_t tokens = GENERATE(1, 5, 33), heads = GENERATE(1, 3, 9),
                head_dim = GENERATE(2, 10, 62, 64, 66, 128);
  const Tensor x = random_tensor({tokens, heads, head_dim}, 61);
  const Tensor positions = tensor_of(random_ints(static_cast<size_t>(tokens), 62, 20000));
  for (const int64_t dims : {head_dim, head_dim / 4 * 2}) {
    if (dims == 0) continue;
    const Tensor frequencies = rope_inverse_frequencies(plain(static_cast<int>(dims), 10000));
    for (const RopePairing pairing : {RopePairing::half_split, RopePairing::interleaved}) {
      const Tensor expected = turned<Cpu>(x, positions, frequencies, pairing);
      INFO(tokens << " x " << heads << " x " << head_dim << ", " << dims << " turn");
      for (const Rope kernel : {rope_one_pair, rope_all_heads}) {
        CHECK(compare(floats(turned_by(kernel, x, positions, frequencies, pairing)), floats(expected), 1e-5f,
                      1e-6f) == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("a rotation keeps lengths, and scores depend on the distance alone", "", Cpu, Cuda) {
  const Tensor frequencies = rope_inverse_frequencies(plain(64, 10000));
  const Tensor one = random_tensor({1, 1, 64}, 71), other = random_tensor({1, 1, 64}, 72);
  const auto dot = [](const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += static_cast<double>(a.data<float>()[i]) * b.data<float>()[i];
    return sum;
  };
  const auto at = [&](const Tensor& x, int32_t position) {
    return turned<TestType>(x, tensor_of({position}), frequencies, RopePairing::half_split);
  };
  const double length = dot(one, one);
  CHECK(std::abs(dot(at(one, 777), at(one, 777)) - length) < 1e-5 * length);
  const double near = dot(at(one, 12), at(other, 5)), far = dot(at(one, 4012), at(other, 4005));
  CHECK(std::abs(near - far) < 2e-3 * std::sqrt(length * dot(other, other)));
  CHECK(std::abs(near - dot(at(one, 13), at(other, 5))) > 1e-2);
}

TEST_CASE("rope does not depend on the number of threads") {
  const Tensor x = random_tensor({33, 3, 64}, 81), positions = first_positions(33);
  const Tensor frequencies = rope_inverse_frequencies(plain(64, 10000));
  const Tensor expected = turned<Cpu>(x, positions, frequencies, RopePairing::half_split);
  for (const int threads : {1, 2, 3, 7}) {
    Cpu device(threads);
    Tensor y = Tensor::host(DType::f32, x.shape());
    copy(device, y, x);
    rope(device, y, positions, frequencies, RopePairing::half_split);
    CHECK(compare_bits(floats(y), floats(expected)) == "");
  }
}

TEST_CASE("impossible rope parameters are refused by value") {
  CHECK_THROWS_WITH(rope_inverse_frequencies(plain(0, 10000)),
                    "rope: 0 dimensions, expected an even number above 0");
  CHECK_THROWS_WITH(rope_inverse_frequencies(plain(7, 10000)),
                    "rope: 7 dimensions, expected an even number above 0");
  CHECK_THROWS_WITH(rope_inverse_frequencies(plain(8, 0)), "rope: base 0, expected above 0");
  CHECK_THROWS_AS(rope_inverse_frequencies(linear(8, 10000, 0)), Error);
  CHECK_THROWS_AS(rope_inverse_frequencies(llama3(8, 10000, 8, 0)), Error);
  RopeParameters factors = plain(8, 10000);
  factors.frequency_factors = {1, 2, 3};
  CHECK_THROWS_WITH(rope_inverse_frequencies(factors), "rope: 3 frequency factors for 4 pairs");
}

TEMPLATE_TEST_CASE("rope refuses shapes that do not belong together", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Tensor x = empty(device, DType::f32, {2, 3, 8}), flat = empty(device, DType::f32, {2, 24});
  const Tensor positions = upload(device, first_positions(2)),
               frequencies = upload(device, rope_inverse_frequencies(plain(8, 10000))),
               too_many = upload(device, rope_inverse_frequencies(plain(10, 10000)));
  CHECK_THROWS_WITH(rope(device, flat, positions, frequencies, RopePairing::half_split),
                    "rope: x has shape [2, 24], expected [tokens, heads, head_dim]");
  CHECK_THROWS_WITH(rope(device, x, upload(device, first_positions(3)), frequencies, RopePairing::half_split),
                    "rope: positions has shape [3], expected [2]");
  CHECK_THROWS_WITH(rope(device, x, positions, too_many, RopePairing::half_split),
                    "rope: 5 pairs do not fit into heads of 8 elements");
}
