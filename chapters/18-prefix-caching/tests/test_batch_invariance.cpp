// A device told to be batch invariant: what it computes for a row has the same bits in any company. These
// tests also run on a GPU, where the faster algorithms would fail them.
#include "model/transformer.h"
#include "ops/matmul.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

TEST_CASE("batch invariance: a row of a matrix product") {
  Cuda device;
  device.batch_invariant = true;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor weight = upload(device, random_weight(dtype, 37, 96, 1)), x = random_tensor({19, 96}, 2),
                 bias = upload(device, random_tensor({37}, 3));
    std::vector<Tensor> alone;
    for (int64_t row = 0; row < 19; ++row) {
      GuardedOutput<Cuda> y(device, {1, 37});
      matmul(device, y.tensor, upload(device, x.slice(row, 1)), weight, bias);
      alone.push_back(y.values());
    }
    for (const int64_t rows : {2, 7, 8, 9, 16, 19}) {
      GuardedOutput<Cuda> y(device, {rows, 37});
      matmul(device, y.tensor, upload(device, x.slice(19 - rows, rows)), weight, bias);
      const Tensor together = y.values();
      for (int64_t row = 0; row < rows; ++row) {
        INFO(name(dtype) << ", row " << row << " of " << rows);
        CHECK(compare_bits(floats(together.slice(row, 1)),
                           floats(alone[static_cast<size_t>(19 - rows + row)])) == "");
      }
    }
  }
}

TEST_CASE("batch invariance: the logits of a sequence") {
  Cuda device;
  device.batch_invariant = true;
  const ModelReference reference("qwen3");
  Transformer<Cuda> transformer(device, open_model(fixture_path("qwen3.gguf")), 64, 5);
  KvCache cache(device, transformer.hyperparameters(), 20, DType::f32, 5);
  const char* prompts[] = {"len7", "len17", "len1", "len2", "len7"};
  std::vector<std::vector<float>> alone;
  Batch together;
  for (int64_t row = 0; row < 5; ++row) {
    const std::vector<int32_t>& ids = reference.prompt(prompts[row]).ids;
    const std::vector<int32_t> blocks = {static_cast<int32_t>(2 * row + 1), static_cast<int32_t>(2 * row)};
    Batch one;
    for (Batch* batch : {&one, &together}) {
      batch->block_size = cache.block_size();
      batch->add(ids, 0, blocks);
      batch->want_logits();
    }
    const Tensor logits = download(device, transformer.forward(one, cache));
    alone.emplace_back(logits.data<float>(), logits.data<float>() + logits.elements());
    CHECK(testing::relative_error(alone.back(),
                                  reference.array(prompts[row] + std::string("/last_logits"))) <= 1e-4);
  }
  const Tensor logits = download(device, transformer.forward(together, cache));
  for (int64_t row = 0; row < 5; ++row) {
    INFO("sequence " << row);
    CHECK(compare_bits(floats(logits.slice(row, 1)), alone[static_cast<size_t>(row)]) == "");
  }
}
