// `rung inspect` on both formats, run as a program.
#include <nlohmann/json.hpp>

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/safetensors_builder.h"

namespace rung {

using testing::fixture_path;
using testing::Output;
using testing::run_program;
using testing::TemporaryFolder;

namespace {

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "inspect");
  arguments.push_back("--json");
  const Output output = run_program(arguments);
  INFO(output.err);
  REQUIRE(output.status == 0);
  return nlohmann::json::parse(output.out);
}

// Empty if the program ended with status 1, one line on stderr that holds the words, and nothing on stdout.
std::string refusal(const std::vector<std::string>& arguments,
                    std::initializer_list<std::string_view> words) {
  const Output output = run_program(arguments);
  if (output.status != 1) return "status " + std::to_string(output.status) + ": " + output.err;
  if (!output.out.empty()) return "on stdout: " + output.out;
  if (output.err.empty() || output.err.back() != '\n') return "no line on stderr: " + output.err;
  return testing::complaint(output.err.substr(0, output.err.size() - 1), words);
}

}  // namespace

TEST_CASE("inspect shows a safetensors folder") {
  const Output output = run_program({"inspect", fixture_path("qwen2-untied")});
  CHECK(output.status == 0);
  CHECK(output.err == "");
  CHECK(output.out.rfind(
            "[header]\nformat: safetensors\nfiles: 3\nmodel-00001-of-00003.safetensors: header_size=", 0) ==
        0);
  CHECK(output.out.find("tensor_count: 27\n") != std::string::npos);
  CHECK(output.out.find("[metadata]\nmodel-00001-of-00003.safetensors: format: pt\n") != std::string::npos);
  const Output tensors = run_program({"inspect", fixture_path("qwen3"), "--tensors", "--limit", "1"});
  CHECK(tensors.out ==
        "[tensors]\nmodel.embed_tokens.weight | canonical=token_embd.weight | shape=[512, 64] | dtype=F32 | "
        "begin=0\n"
        "... (23 more tensors)\n");
}

TEST_CASE("inspect --hyperparameters shows the same for both formats") {
  for (const std::string name : {"qwen3", "qwen2-bias"}) {
    INFO(name);
    const Output gguf = run_program({"inspect", fixture_path(name + ".gguf"), "--hyperparameters"});
    const Output folder = run_program({"inspect", fixture_path(name), "--hyperparameters"});
    CHECK(gguf.status == 0);
    CHECK(gguf.out == folder.out);
    CHECK(gguf.out.rfind("[hyperparameters]\narchitecture: " + name.substr(0, 5) + "\n", 0) == 0);
  }
  const nlohmann::json h = json_of({fixture_path("llama-rope3"), "--hyperparameters"}).at("hyperparameters");
  CHECK(h.at("architecture") == "llama");
  CHECK(h.at("layers") == 3);
  CHECK(h.at("head_dim") == 16);
  CHECK(h.at("rope.scaling") == "llama3");
  CHECK(h.at("rope.factor") == 32);
  CHECK(h.at("rope.original_context_length") == 64);
  CHECK(h.at("tied_embeddings") == true);
  const nlohmann::json g =
      json_of({fixture_path("llama-rope3.gguf"), "--hyperparameters"}).at("hyperparameters");
  CHECK(g.at("rope.pairing") == "interleaved");
  CHECK(g.at("rope.frequency_factors").size() == 8);
}

TEST_CASE("inspect --tensor finds a tensor by either name, with the same values in both formats") {
  const nlohmann::json one =
      json_of({fixture_path("qwen3"), "--tensor", "model.layers.1.mlp.up_proj.weight"}).at("tensor");
  const nlohmann::json two = json_of({fixture_path("qwen3"), "--tensor", "blk.1.ffn_up.weight"}).at("tensor");
  const nlohmann::json three =
      json_of({fixture_path("qwen3.gguf"), "--tensor", "blk.1.ffn_up.weight"}).at("tensor");
  CHECK(one.at("shape") == nlohmann::json({96, 64}));
  CHECK(one.at("first_values").size() == 8);
  CHECK(two == three);
  CHECK(one.at("first_values") == two.at("first_values"));
}

TEST_CASE("inspect --json lists files and tensors of safetensors") {
  const nlohmann::json json = json_of({fixture_path("qwen2-untied"), "--tensors"});
  CHECK(json.at("format") == "safetensors");
  CHECK(json.at("files").size() == 3);
  CHECK(json.at("files")[0].at("metadata").at("format") == "pt");
  CHECK(json.at("tensors").size() == 27);
  uint64_t bytes = 0;
  for (const nlohmann::json& tensor : json.at("tensors")) {
    CHECK(tensor.at("canonical").is_string());
    bytes += tensor.at("bytes").get<uint64_t>();
  }
  CHECK(bytes == 543488);
}

TEST_CASE("inspect refuses bad models with one line and status 1") {
  const TemporaryFolder folder;
  const std::string whole = testing::safetensors_of({"a", "b"});
  CHECK(refusal({"inspect", folder.write("cut.safetensors", whole.substr(0, whole.size() - 1))},
                {"cut.safetensors", "\"b\""}) == "");
  CHECK(refusal({"inspect", folder.write("empty.safetensors", "")}, {"empty.safetensors", "at least 8"}) ==
        "");
  CHECK(refusal({"inspect", folder.write("deep.safetensors", testing::safetensors_bytes(
                                                                 "{\"a\":" + std::string(100000, '['), ""))},
                {"deep.safetensors", "array"}) == "");
  CHECK(refusal({"inspect", folder.path() + "/missing.safetensors"},
                {"missing.safetensors", "No such file"}) == "");
  CHECK(refusal({"inspect", folder.path() + "/missing"}, {"missing", "No such file"}) == "");
  CHECK(refusal({"inspect", folder.path()}, {"3 *.safetensors files"}) == "");
  CHECK(refusal({"inspect", fixture_path("qwen3"), "--tensor", "none"}, {"qwen3", "no tensor \"none\""}) ==
        "");
  CHECK(refusal({"inspect", fixture_path("qwen3"), "--tensor", "none", "--json"}, {"no tensor \"none\""}) ==
        "");

  const TemporaryFolder model;
  model.write("model.safetensors", whole);
  CHECK(refusal({"inspect", model.path(), "--hyperparameters"}, {"config.json", "missing"}) == "");
  model.write("config.json", R"({"model_type":"gemma3"})");
  CHECK(refusal({"inspect", model.path(), "--hyperparameters"},
                {"config.json", "model_type", "\"gemma3\""}) == "");
  CHECK(run_program({"inspect", model.path()}).status == 0);  // the weights of other models can be looked at
  model.write("config.json", R"({"model_type":"llama","hidden_size":"64"})");
  CHECK(refusal({"inspect", model.path(), "--hyperparameters", "--json"},
                {"config.json", "num_hidden_layers"}) == "");
}

TEST_CASE("inspect escapes what a safetensors file may hold") {
  const TemporaryFolder folder;
  const std::string header = "{\"__metadata__\":{\"k\\u001b\":\"v\\n\"}," +
                             testing::tensor_json("t\\u0007\\u009b", "U8", "[1]", 0, 1) + "}";
  const std::string path = folder.write("x.safetensors", testing::safetensors_bytes(header, "x"));
  CHECK(run_program({"inspect", path}).out.find("k\\x1b: v\\n\n") != std::string::npos);
  CHECK(run_program({"inspect", path, "--tensors"}).out.find("t\\x07\\xc2\\x9b | canonical=- ") !=
        std::string::npos);
  CHECK(json_of({path, "--tensors"}).at("tensors")[0].at("name") == "t\a\u009b");
}

}  // namespace rung
