// RMSNorm on both devices: against transformers' values, a row worked out by hand, and each kernel against
// the CPU.
#include <cmath>

#include "model_file/model_file.h"
#include "ops/rms_norm.h"
#include "ops/rms_norm_kernels.h"
#include "rung/error.h"
#include "tensor/decode.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

constexpr float kUnit = 0x1p-24f;  // half the distance from 1 to the next float32: the error of one rounding

struct Kernel {
  const char* name;
  void (*run)(Cuda&, Tensor&, const Tensor&, const Tensor&, float);
  int64_t (*chain)(int64_t columns);  // the longest chain of additions, which bounds the sum's relative error
};

int64_t tree_chain(int64_t columns) {
  return columns / 256 + 9;
}
int64_t one_chain(int64_t columns) {
  return columns;
}
int64_t shuffle_chain(int64_t columns) {
  return columns / 32 + 11;
}

const Kernel kOneThread = {"one thread", rms_norm_one_thread, one_chain};
const Kernel kSharedTree = {"shared tree", rms_norm_shared_tree, tree_chain};
const Kernel kWarpShuffles = {"warp shuffles", rms_norm_warp_shuffles, shuffle_chain};
const Kernel kVectors = {"vectors of four", rms_norm_vectors, shuffle_chain};

Tensor on_cpu(const Tensor& x, const Tensor& weight, float epsilon) {
  GuardedOutput<Cpu> y(the_device<Cpu>(), x.shape());
  rms_norm(the_device<Cpu>(), y.tensor, x, weight, epsilon);
  return y.values();
}

void check_two_rows_by_hand(const Kernel& kernel) {
  Cuda& device = the_device<Cuda>();
  GuardedOutput<Cuda> y(device, {2, 4});
  kernel.run(device, y.tensor, upload(device, tensor_of({1, 2, -3, 7, 0, 0, 0, 8}, {2, 4})),
             upload(device, tensor_of({1.0f, 2.0f, 4.0f, -8.0f}, {4})), 0.25f);
  // The second row: mean 16, plus 0.25, root 4.0311289.
  CHECK(compare(floats(y.values()), std::vector<float>{0.25f, 1, -3, -14, 0, 0, 0, -64 / 4.0311289f}, 0,
                4 * kUnit) == "");
}

void check_against_cpu(const Kernel& kernel) {
  Cuda& device = the_device<Cuda>();
  const int64_t columns =
      GENERATE(1, 2, 31, 32, 33, 127, 128, 129, 132, 255, 256, 257, 576, 1021, 2049, 4100);
  const int64_t rows = GENERATE(1, 3, 65);
  const Tensor x = random_tensor({rows, columns}, 11), weight = random_tensor({columns}, 12);
  GuardedOutput<Cuda> y(device, {rows, columns});
  kernel.run(device, y.tensor, upload(device, x), upload(device, weight), 1e-5f);
  // Half the relative error of each sum survives the root; scaling adds a few roundings.
  const float tolerance = static_cast<float>((kernel.chain(columns) + columns / 16 + 4) / 2 + 6) * kUnit;
  INFO(kernel.name << ", " << rows << " x " << columns);
  CHECK(compare(floats(y.values()), floats(on_cpu(x, weight, 1e-5f)), 0, tolerance) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("rms_norm of four numbers is what a pencil gives", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  // Squares 1, 4, 9, 49: mean 15.75, plus 0.25 is 16, its root 4.
  GuardedOutput<TestType> y(device, {1, 4});
  rms_norm(device, y.tensor, upload(device, tensor_of({1.0f, 2.0f, -3.0f, 7.0f}, {1, 4})),
           upload(device, tensor_of({1.0f, 2.0f, 4.0f, -8.0f}, {4})), 0.25f);
  CHECK(compare_bits(floats(y.values()), std::vector<float>{0.25f, 1.0f, -3.0f, -14.0f}) == "");
}

TEST_CASE("rms_norm with one thread a row agrees with rows worked out by hand") {
  check_two_rows_by_hand(kOneThread);
}

TEST_CASE("rms_norm's shared tree agrees with rows worked out by hand") {
  check_two_rows_by_hand(kSharedTree);
}

TEST_CASE("rms_norm's warp shuffles agree with rows worked out by hand") {
  check_two_rows_by_hand(kWarpShuffles);
}

TEST_CASE("rms_norm's vectors agree with rows worked out by hand") {
  check_two_rows_by_hand(kVectors);
}

TEMPLATE_TEST_CASE("rms_norm equals transformers' on a fixture's first layer", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const std::string name = GENERATE("llama-rope3", "llama-untied", "qwen2-bias", "qwen3");
  const Reference reference(name);
  const auto model = open_model(fixture_path(name + ".gguf"));
  const Hyperparameters& h = model->hyperparameters();
  struct Norm {
    const char *weight, *input, *output;
  };
  for (const Norm& norm : {Norm{"blk.0.attn_norm.weight", "len7/embedding", "len7/attn_norm"},
                           Norm{"blk.0.ffn_norm.weight", "len7/attn_residual", "len7/ffn_norm"}}) {
    const Tensor x = upload(device, reference.array(norm.input));
    const Tensor weight = upload(device, to_f32(model->tensor(norm.weight, {h.hidden})));
    GuardedOutput<TestType> y(device, x.shape());
    rms_norm(device, y.tensor, x, weight, h.rms_epsilon);
    INFO(name << " " << norm.output);
    CHECK(compare(floats(y.values()), floats(reference.array(norm.output)), 1e-7f, 4e-6f) == "");
  }
}

TEMPLATE_TEST_CASE("add_rms_norm equals transformers' residual and norm", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Reference reference("llama-rope3");
  const auto model = open_model(fixture_path("llama-rope3.gguf"));
  const Hyperparameters& h = model->hyperparameters();
  GuardedOutput<TestType> residual(device, {7, h.hidden}), y(device, {7, h.hidden});
  copy(device, residual.tensor, upload(device, reference.array("len7/embedding")));
  const Tensor weight = upload(device, to_f32(model->tensor("blk.0.ffn_norm.weight", {h.hidden})));
  add_rms_norm(device, y.tensor, residual.tensor, upload(device, reference.array("len7/attn_output")), weight,
               h.rms_epsilon);
  CHECK(compare(floats(residual.values()), floats(reference.array("len7/attn_residual")), 1e-7f, 1e-6f) ==
        "");
  CHECK(compare(floats(y.values()), floats(reference.array("len7/ffn_norm")), 1e-7f, 4e-6f) == "");
}

TEST_CASE("per-head norms of qwen3 equal transformers'") {
  const Reference reference("qwen3");
  const auto model = open_model(fixture_path("qwen3.gguf"));
  const Hyperparameters& h = model->hyperparameters();
  const Tensor weight = to_f32(model->tensor("blk.0.attn_q_norm.weight", {h.head_dim}));
  const Tensor heads = reference.array("len7/q").reshaped({7 * h.heads, h.head_dim});
  CHECK(compare(floats(on_cpu(heads, weight, h.rms_epsilon)), floats(reference.array("len7/q_norm")), 1e-7f,
                4e-6f) == "");
}

TEST_CASE("rms_norm with one thread a row agrees with the CPU on all kinds of sizes") {
  check_against_cpu(kOneThread);
}

TEST_CASE("rms_norm's shared tree agrees with the CPU on all kinds of sizes") {
  check_against_cpu(kSharedTree);
}

TEST_CASE("rms_norm's warp shuffles agree with the CPU on all kinds of sizes") {
  check_against_cpu(kWarpShuffles);
}

TEST_CASE("rms_norm's vectors agree with the CPU on all kinds of sizes") {
  check_against_cpu(kVectors);
}

TEMPLATE_TEST_CASE("add_rms_norm is the addition followed by the norm", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const int64_t columns = GENERATE(1, 33, 132, 257, 576);
  const Tensor x = random_tensor({5, columns}, 21), before = random_tensor({5, columns}, 22),
               weight = upload(device, random_tensor({columns}, 23));
  Tensor sum = Tensor::host(DType::f32, {5, columns});
  for (int64_t i = 0; i < sum.elements(); ++i) {
    sum.data<float>()[i] = before.data<float>()[i] + x.data<float>()[i];
  }
  GuardedOutput<TestType> residual(device, {5, columns}), y(device, {5, columns}),
      expected(device, {5, columns});
  copy(device, residual.tensor, upload(device, before));
  add_rms_norm(device, y.tensor, residual.tensor, upload(device, x), weight, 1e-6f);
  rms_norm(device, expected.tensor, upload(device, sum), weight, 1e-6f);
  CHECK(compare_bits(floats(residual.values()), floats(sum)) == "");
  // Bit for bit, so that a model may use either.
  CHECK(compare_bits(floats(y.values()), floats(expected.values())) == "");
}

TEMPLATE_TEST_CASE("rms_norm may write over its input", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Tensor x = random_tensor({3, 300}, 31), weight = upload(device, random_tensor({300}, 32));
  GuardedOutput<TestType> apart(device, x.shape()), place(device, x.shape());
  rms_norm(device, apart.tensor, upload(device, x), weight, 1e-5f);
  copy(device, place.tensor, upload(device, x));
  rms_norm(device, place.tensor, place.tensor, weight, 1e-5f);
  CHECK(compare_bits(floats(place.values()), floats(apart.values())) == "");
}

TEMPLATE_TEST_CASE("a row's norm does not depend on the rows around it", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Tensor x = random_tensor({33, 97}, 41), weight = upload(device, random_tensor({97}, 42));
  GuardedOutput<TestType> all(device, x.shape());
  rms_norm(device, all.tensor, upload(device, x), weight, 1e-5f);
  const Tensor together = all.values();
  for (const int64_t row : {0, 7, 32}) {
    GuardedOutput<TestType> alone(device, {1, 97});
    rms_norm(device, alone.tensor, upload(device, x).slice(row, 1), weight, 1e-5f);
    CHECK(compare_bits(floats(alone.values()), floats(together.slice(row, 1))) == "");
  }
}

TEST_CASE("rms_norm does not depend on the number of threads") {
  const Tensor x = random_tensor({33, 577}, 51), weight = random_tensor({577}, 52);
  const Tensor expected = on_cpu(x, weight, 1e-5f);
  for (const int threads : {1, 2, 3, 7}) {
    Cpu device(threads);
    Tensor y = empty(device, DType::f32, x.shape());
    rms_norm(device, y, x, weight, 1e-5f);
    CHECK(compare_bits(floats(y), floats(expected)) == "");
  }
}

TEMPLATE_TEST_CASE("epsilon keeps a row of zeros at zero, and huge values do not spill into other rows", "",
                   Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Tensor x = Tensor::host(DType::f32, {3, 64});
  for (int i = 0; i < 64; ++i) x.data<float>()[64 + i] = 1e25f;  // squares overflow: the row becomes 0
  for (int i = 0; i < 64; ++i) x.data<float>()[128 + i] = 2;
  const Tensor weight = upload(device, tensor_of(std::vector<float>(64, 1.0f), {64}));
  GuardedOutput<TestType> y(device, x.shape());
  rms_norm(device, y.tensor, upload(device, x), weight, 1e-6f);
  const Tensor values = y.values();
  for (int i = 0; i < 64; ++i) {
    CHECK(values.data<float>()[i] == 0);
    CHECK(values.data<float>()[64 + i] == 0);
    CHECK(std::abs(values.data<float>()[128 + i] - 1) < 1e-6f);
  }
}

TEMPLATE_TEST_CASE("rms_norm refuses a weight of another length", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Tensor y = empty(device, DType::f32, {2, 8});
  const Tensor x = upload(device, random_tensor({2, 8}, 1)), weight = upload(device, random_tensor({7}, 1));
  CHECK_THROWS_WITH(rms_norm(device, y, x, weight, 1e-5f), "rms_norm: weight has shape [7], expected [8]");
  Tensor short_y = empty(device, DType::f32, {1, 8});
  CHECK_THROWS_WITH(rms_norm(device, short_y, x, x.slice(0, 1).reshaped({8}), 1e-5f),
                    "rms_norm: y has shape [1, 8], expected [2, 8]");
}
