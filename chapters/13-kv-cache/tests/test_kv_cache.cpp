// The KV cache: what it keeps and refuses, and that prefill in passes, decode and a kept prefix give the
// logits of the whole sequence computed at once.
#include "cache/kv_cache.h"

#include "model/transformer.h"
#include "tensor/device_tensor.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

// The emulator takes its time: it gets fewer passes.
template <class Device>
constexpr bool kEmulated = kCudaEmulated && std::is_same_v<Device, Cuda>;

template <class Device>
std::vector<float> host(Device& device, const Tensor& logits) {
  const Tensor result = download(device, logits);
  return {result.template data<float>(), result.template data<float>() + result.elements()};
}

TEST_CASE("kv cache: bytes, space and the common prefix") {
  Cpu device(1);
  const std::shared_ptr<const ModelFile> model = open_model(testing::fixture_path("qwen3.gguf"));
  const Hyperparameters& h = model->hyperparameters();  // 2 layers, 2 heads of 32 for keys and values
  CHECK(kv_cache_bytes(h, 10, DType::f32) == 2 * 2 * 10 * 2 * 32 * 4);
  CHECK(kv_cache_bytes(h, 10, DType::bf16) == 2 * 2 * 10 * 2 * 32 * 2);
  KvCache cache(device, h, 5, DType::f16);
  CHECK(static_cast<int64_t>(cache.bytes()) == kv_cache_bytes(h, 5, DType::f16));
  CHECK(cache.length() == 0);
  cache.append({7, 8, 9});
  CHECK_THROWS_WITH(cache.append({1, 2, 3}), Catch::Contains("3 more") && Catch::Contains("5"));
  cache.append({1, 2});
  CHECK(cache.keep_common_prefix({7, 8, 1, 2}) == 2);
  CHECK(cache.ids() == std::vector<int32_t>{7, 8});
  CHECK(cache.keep_common_prefix({7, 8, 5}) == 2);
  CHECK(cache.keep_common_prefix({3}) == 0);
  CHECK_THROWS_WITH(KvCache(device, h, 0, DType::f32), Catch::Contains("1 to 1024"));
  CHECK_THROWS_WITH(KvCache(device, h, 1025, DType::f32), Catch::Contains("1025"));
}

TEMPLATE_TEST_CASE("kv cache: passes of any size and decode give the logits that transformers gives", "", Cpu,
                   Cuda) {
  TestType device;
  const std::vector<int64_t> passes =
      kEmulated<TestType> ? std::vector<int64_t>{7, 39} : std::vector<int64_t>{1, 7, 16, 39, 40};
  for (const std::string name : {"llama-rope3", "llama-untied", "qwen2-bias", "qwen3"}) {
    const Reference reference(name);
    Transformer<TestType> transformer(device, open_model(testing::fixture_path(name + ".gguf")), 40);
    const std::vector<int32_t>& ids = reference.prompt("len40").ids;
    for (const int64_t pass : passes) {
      CAPTURE(name, pass);
      KvCache cache(device, transformer.hyperparameters(), 40, DType::f32);
      Tensor logits;
      for (int64_t begin = 0; begin < 40; begin += pass) {
        logits =
            transformer.forward(part_of_sequence(ids, begin, std::min<int64_t>(begin + pass, 40)), cache);
      }
      CHECK(testing::relative_error(host(device, logits), reference.array("len40/last_logits")) <= 1e-4);
    }
  }
}

TEMPLATE_TEST_CASE("kv cache: every decode step's logits equal transformers'", "", Cpu, Cuda) {
  TestType device;
  for (const std::string name : {"llama-rope3", "qwen3", "qwen2-bias.gguf", "llama-untied.gguf"}) {
    const Reference reference(name.substr(0, name.find('.')));
    const Reference::Prompt& prompt = reference.prompt("len7");
    Transformer<TestType> transformer(device, open_model(testing::fixture_path(name)), 7);
    KvCache cache(device, transformer.hyperparameters(), 40, DType::f32);
    const Span<const float> expected = reference.array("len7/decode_logits");
    Tensor logits = transformer.forward(part_of_sequence(prompt.ids, 0, 7), cache);
    for (size_t step = 0; step < prompt.output_ids.size(); ++step) {
      CAPTURE(name, step);
      CHECK(testing::relative_error(host(device, logits), expected.subspan(step * 512, 512)) <= 1e-4);
      const int32_t position = static_cast<int32_t>(cache.length());
      logits = transformer.forward(Batch{{prompt.output_ids[step]}, {position}, {0}}, cache);
    }
  }
}

// The same bits, not merely close: with greedy sampling the text must not depend on how the prompt was cut.
// (On a GPU products of different sizes may be summed in different orders.)
TEMPLATE_TEST_CASE("kv cache: passes of any size give the same bits", "[emulated]", Cpu, Cuda) {
#ifdef RUNG_CUDA_TOOLKIT
  if (std::is_same_v<TestType, Cuda>) return;
#endif
  TestType device;
  const Reference reference("llama-rope3");
  Transformer<TestType> transformer(device, open_model(testing::fixture_path("llama-rope3.gguf")), 80);
  const std::vector<int32_t>& ids = reference.prompt("len70").ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  const std::vector<int64_t> passes = kEmulated<TestType> ? std::vector<int64_t>{tokens, 1, 33}
                                                          : std::vector<int64_t>{tokens, 1, 2, 7, 33, 64};
  std::vector<float> whole;
  for (const int64_t pass : passes) {
    KvCache cache(device, transformer.hyperparameters(), tokens, DType::f32);
    Tensor logits;
    for (int64_t begin = 0; begin < tokens; begin += pass) {
      logits = transformer.forward(part_of_sequence(ids, begin, std::min(begin + pass, tokens)), cache);
    }
    const std::vector<float> result = host(device, logits);
    if (whole.empty()) whole = result;
    CAPTURE(pass);
    CHECK(testing::compare_bits(result, whole) == "");
  }
}

TEMPLATE_TEST_CASE("kv cache: kept in 16 bits", "", Cpu, Cuda) {
  TestType device;
  const Reference reference("qwen3");
  Transformer<TestType> transformer(device, open_model(testing::fixture_path("qwen3.gguf")), 40);
  for (const auto& [dtype, tolerance] : {std::pair{DType::f16, 3e-3}, std::pair{DType::bf16, 3e-2}}) {
    KvCache cache(device, transformer.hyperparameters(), 40, dtype);
    const Tensor logits = transformer.forward(part_of_sequence(reference.prompt("len40").ids, 0, 40), cache);
    const double error = testing::relative_error(host(device, logits), reference.array("len40/last_logits"));
    CAPTURE(name(dtype), error);
    CHECK(error <= tolerance);
    CHECK(error > 1e-6);  // it was rounded
  }
}

TEST_CASE("kv cache: a pass that does not follow on what is stored, or does not fit, is refused") {
  Cpu device(1);
  Transformer<Cpu> transformer(device, open_model(testing::fixture_path("qwen3.gguf")), 8);
  KvCache cache(device, transformer.hyperparameters(), 4, DType::f32);
  CHECK_THROWS_WITH(transformer.forward(part_of_sequence({1, 2, 3, 4, 5}, 0, 5), cache),
                    Catch::Contains("5 tokens") && Catch::Contains("space for 4"));
  CHECK(cache.length() == 0);
  transformer.forward(part_of_sequence({1, 2, 3}, 0, 3), cache);
  CHECK_THROWS_WITH(transformer.forward(Batch{{1}, {2}, {0}}, cache),
                    Catch::Contains("position 2") && Catch::Contains("holds 3"));
  CHECK_THROWS(transformer.forward(part_of_sequence({1, 2, 3, 4, 5}, 3, 5), cache));
  CHECK_NOTHROW(transformer.forward(Batch{{1}, {3}, {0}}, cache));
}

}  // namespace
}  // namespace rung
