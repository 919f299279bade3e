// Perplexity against transformers' log-probabilities of a fixture's prompt.
#include "engine/perplexity.h"

#include <cmath>
#include <type_traits>

#include "rung/error.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

// log softmax(row)[id] of one row of transformers' logits.
double log_softmax(Span<const float> row, int32_t id) {
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit));
  return row[static_cast<size_t>(id)] - std::log(sum);
}

TEMPLATE_TEST_CASE("perplexity: each token's log-probability equals transformers'", "", Cpu, Cuda) {
  TestType device;
  std::vector<const char*> names = {"qwen3"};
  if (std::is_same_v<TestType, Cpu>) names.insert(names.end(), {"llama-rope3", "qwen2-bias"});
  for (const char* name : names) {
    const Reference reference(name);
    const std::vector<int32_t>& ids = reference.prompt("len70").ids;
    Transformer<TestType> transformer(device, open_model(testing::fixture_path(name + std::string(".gguf"))),
                                      70, 69);
    KvCache cache(device, transformer.hyperparameters(), transformer.max_tokens(), DType::f32);
    std::vector<size_t> progress;
    const std::vector<double> scores =
        score_windows(transformer, cache, ids, 70, [&](size_t done) { progress.push_back(done); });
    CAPTURE(name);
    CHECK(testing::compare(std::vector<float>(scores.begin(), scores.end()),
                           reference.array("len70/log_probabilities"), 2e-4f) == "");
    CHECK(progress == std::vector<size_t>{70});
  }
}

TEST_CASE("perplexity: windows do not see each other, and their first tokens are not scored") {
  Cpu device(2);
  const Reference reference("qwen3");
  const std::vector<int32_t>&seven = reference.prompt("len7").ids, &seventeen = reference.prompt("len17").ids;
  // Windows of 7: the whole of len7, the first 7 of len17, and 3 that are left over.
  std::vector<int32_t> ids = seven;
  ids.insert(ids.end(), seventeen.begin(), seventeen.begin() + 7);
  ids.insert(ids.end(), seventeen.begin(), seventeen.begin() + 3);
  std::vector<float> expected;
  const auto expect = [&](const char* array, const std::vector<int32_t>& of, size_t tokens) {
    for (size_t i = 0; i + 1 < tokens; ++i) {
      expected.push_back(
          static_cast<float>(log_softmax(reference.array(array).subspan(i * 512, 512), of[i + 1])));
    }
  };
  expect("len7/logits", seven, 7);
  expect("len17/logits", seventeen, 7);
  expect("len17/logits", seventeen, 3);

  Transformer<Cpu> transformer(device, open_model(testing::fixture_path("qwen3.gguf")), 7, 6);
  KvCache cache(device, transformer.hyperparameters(), transformer.max_tokens(), DType::f32);
  const auto scored = [&] {
    const std::vector<double> scores = score_windows(transformer, cache, ids, 7, [](size_t) {});
    return std::vector<float>(scores.begin(), scores.end());
  };
  CHECK(testing::compare(scored(), expected, 2e-4f) == "");
  ids.resize(15);  // a window of one token has nothing to score
  expected.resize(12);
  CHECK(testing::compare(scored(), expected, 2e-4f) == "");
  CHECK_THROWS_AS(score_windows(transformer, cache, ids, 1, [](size_t) {}), Error);
}

TEST_CASE("perplexity: value and standard error of numbers worked out by hand") {
  // Probabilities 1/2, 1/4, 1/8: geometric mean 1/4. Logarithms -1, -2, -3 times ln 2: deviation ln 2, over
  // sqrt(3).
  const std::vector<double> scores = {std::log(0.5), std::log(0.25), std::log(0.125)};
  const Perplexity result = perplexity(scores);
  CHECK(result.mean_log_probability == Approx(-2 * 0.6931471805599453));
  CHECK(result.value == Approx(4.0));
  CHECK(result.standard_error == Approx(4.0 * 0.6931471805599453 / 1.7320508075688772));
  CHECK(std::isnan(perplexity(std::vector<double>{-1}).standard_error));
  CHECK_THROWS_AS(perplexity(std::vector<double>{}), Error);
}

}  // namespace
}  // namespace rung
