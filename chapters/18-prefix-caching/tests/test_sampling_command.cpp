// The sampling flags of the program's `generate`, and its `perplexity`.
#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "model_file/gguf_file.h"
#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {
namespace {

using testing::fixture_path;
using testing::Output;

Output run_generate(std::vector<std::string> arguments) {
  std::vector<std::string> all = {"generate",       "-m", fixture_path("llama-untied.gguf"), "-t", "2", "-p",
                                  "The river turns"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return testing::run_program(all);
}

nlohmann::json generate_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Output output = run_generate(arguments);
  CAPTURE(output.err);
  REQUIRE(output.status == 0);
  return nlohmann::json::parse(output.out);
}

// stderr is one line, which begins with "rung: " and holds the text; status 1, nothing on stdout.
void check_refused(const Output& output, const std::string& text) {
  CAPTURE(output.err);
  CHECK(output.status == 1);
  CHECK(output.out.empty());
  CHECK(output.err.rfind("rung: ", 0) == 0);
  CHECK(output.err.find('\n') == output.err.size() - 1);
  CHECK_THAT(output.err, Catch::Contains(text));
}

TEST_CASE("sampling flags: the same seed gives the same text, and the JSON names the seed") {
  const std::vector<std::string> wild = {"-n", "16", "--temperature", "2", "--top-k", "0", "--top-p", "1"};
  std::vector<std::string> seeded = wild;
  seeded.insert(seeded.end(), {"--seed", "18446744073709551615"});
  const nlohmann::json first = generate_json(seeded), second = generate_json(seeded);
  CHECK(first.at("seed") == 18446744073709551615u);
  CHECK(first.at("output_ids") == second.at("output_ids"));
  CHECK(!first.contains("log_probabilities"));
  const nlohmann::json other = generate_json(wild);
  std::vector<std::string> again = wild;
  again.insert(again.end(), {"--seed", std::to_string(other.at("seed").get<uint64_t>())});
  CHECK(generate_json(again).at("output_ids") == other.at("output_ids"));
  CHECK(other.at("output_ids") != first.at("output_ids"));
}

TEST_CASE("sampling flags: top-k 1, a tiny top-p, min-p 1 and temperature 0 are all greedy") {
  const nlohmann::json greedy = generate_json({"-n", "8", "--temperature", "0"}).at("output_ids");
  CHECK(generate_json({"-n", "8", "--temperature", "1.5", "--top-k", "1"}).at("output_ids") == greedy);
  CHECK(generate_json({"-n", "8", "--temperature", "1.5", "--top-p", "0.000001"}).at("output_ids") == greedy);
  CHECK(generate_json({"-n", "8", "--temperature", "1.5", "--min-p", "1"}).at("output_ids") == greedy);
  CHECK(generate_json({"-n", "8", "--temperature", "0", "--repetition-penalty", "1.8"}).at("output_ids") !=
        greedy);
}

TEST_CASE("sampling flags: --logprobs gives one number a token, and a sum of exps of at most 1") {
  const nlohmann::json result = generate_json({"-n", "8", "--temperature", "0", "--logprobs"});
  REQUIRE(result.at("log_probabilities").size() == 8);
  for (const nlohmann::json& value : result.at("log_probabilities")) {
    CHECK(value.get<double>() < 0);
    CHECK(value.get<double>() > -std::log(512.0));  // the most probable of 512 has at least 1/512
  }
  check_refused(run_generate({"--logprobs"}), "--json");
}

TEST_CASE("sampling flags: --stop, once and several times") {
  const Output one = run_generate({"-n", "24", "--temperature", "0", "--stop", " ladder"});
  CHECK(one.out == ")der than than\n");
  CHECK_THAT(one.err, Catch::Contains("ended by stop"));
  const Output two = run_generate({"-n", "24", "--temperature", "0", "--stop", "ladder", "--stop", "than"});
  CHECK(two.out == ")der \n");
  CHECK(run_generate({"-n", "24", "--temperature", "0", "--stop", ")"}).out == "\n");
  check_refused(run_generate({"--stop", ""}), "stop string is empty");
}

TEST_CASE("sampling flags: values out of range are refused by name") {
  check_refused(run_generate({"--temperature", "-1"}), "temperature");
  check_refused(run_generate({"--temperature", "nan"}), "temperature");
  check_refused(run_generate({"--temperature", "warm"}), "warm");
  check_refused(run_generate({"--top-k", "-1"}), "top_k");
  check_refused(run_generate({"--top-p", "0"}), "top_p");
  check_refused(run_generate({"--top-p", "1.5"}), "top_p");
  check_refused(run_generate({"--min-p", "2"}), "min_p");
  check_refused(run_generate({"--repetition-penalty", "0"}), "repetition_penalty");
  check_refused(run_generate({"--seed", "-1"}), "--seed");
  check_refused(run_generate({"--seed", "18446744073709551616"}), "--seed");
}

TEST_CASE("perplexity command: its number is transformers' loss") {
  // By tests/data/make_perplexity_reference.py.
  constexpr double kPerplexity = 965.0539166039317, kStandardError = 303.0089591076455;
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("text", "She counts the rungs: 1, 2, 3");
  const Output output = testing::run_program({"perplexity", "-m", fixture_path("llama-untied.gguf"), "--file",
                                              file, "--context", "8", "--json", "-t", "2"});
  CAPTURE(output.err);
  REQUIRE(output.status == 0);
  const nlohmann::json result = nlohmann::json::parse(output.out);
  CHECK(result.at("tokens") == 15);
  CHECK(result.at("tokens_scored") == 13);
  CHECK(result.at("context") == 8);
  CHECK(result.at("perplexity").get<double>() ==
        Approx(std::exp(-result.at("mean_log_probability").get<double>())));
  CHECK(result.at("perplexity").get<double>() == Approx(kPerplexity).epsilon(1e-4));
  CHECK(result.at("standard_error").get<double>() == Approx(kStandardError).epsilon(1e-4));
  const Output text = testing::run_program(
      {"perplexity", "-m", fixture_path("llama-untied.gguf"), "--file", file, "--context", "8", "-t", "2"});
  CHECK_THAT(text.out, Catch::StartsWith("perplexity 965.0") && Catch::Contains(" ± 303.0") &&
                           Catch::Contains("13 of 15 tokens scored"));
}

TEST_CASE("perplexity command: a perplexity beyond the largest number is null in the JSON") {
  // A model far too sure of itself: the last norm's weights, and with them the logits, 100,000 times as
  // large.
  std::string bytes = testing::read_file(fixture_path("llama-untied.gguf"));
  const GgufTensor norm = *GgufFile::open(fixture_path("llama-untied.gguf"))->entry("output_norm.weight");
  REQUIRE(norm.type->dtype == DType::f32);
  for (size_t at = norm.position; at < norm.position + norm.bytes; at += sizeof(float)) {
    float weight;
    std::memcpy(&weight, &bytes[at], sizeof weight);
    weight *= 1e5f;
    std::memcpy(&bytes[at], &weight, sizeof weight);
  }
  const testing::TemporaryFolder folder;
  const Output output =
      testing::run_program({"perplexity", "-m", folder.write("sure.gguf", bytes), "--file",
                            folder.write("text", "She counts the rungs: 1, 2, 3"), "--json", "-t", "2"});
  CAPTURE(output.out, output.err);
  REQUIRE(output.status == 0);
  const nlohmann::json result = nlohmann::json::parse(output.out);
  CHECK(result.at("perplexity").is_null());
  CHECK(result.at("standard_error").is_null());
  CHECK(result.at("mean_log_probability").get<double>() < -709);
}

TEST_CASE("perplexity command: what cannot be measured is refused in one line") {
  const testing::TemporaryFolder folder;
  const auto run = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all = {"perplexity", "-m", fixture_path("llama-untied.gguf")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return testing::run_program(all);
  };
  check_refused(run({}), "--file");
  check_refused(run({"--file", "/no/such/file"}), "/no/such/file");
  check_refused(run({"--file", folder.write("empty", "")}), "0 tokens");
  check_refused(run({"--file", folder.write("one", "a")}), "1 token,");
  const std::string text = folder.write("text", "The river turns");
  check_refused(run({"--file", text, "--context", "1"}), "--context");
  check_refused(run({"--file", text, "--context", "513"}), "512");
}

}  // namespace
}  // namespace rung
