// The program's `generate`: its text and JSON, where prompts come from, and what it says about mistakes.
#include <fstream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {
namespace {

using testing::fixture_path;
using testing::Output;
using testing::TemporaryFolder;

// Flags that make the program greedy.
const std::vector<std::string> kGreedy = {"--temperature", "0"};

Output run_generate(std::vector<std::string> arguments, const std::string& model = "llama-untied.gguf") {
  std::vector<std::string> all = {"generate", "-m", fixture_path(model), "-t", "2"};
  all.insert(all.end(), kGreedy.begin(), kGreedy.end());
  all.insert(all.end(), arguments.begin(), arguments.end());
  return testing::run_program(all);
}

nlohmann::json reference_prompt(const std::string& fixture, const std::string& name) {
  const nlohmann::json reference = nlohmann::json::parse(testing::read_file(fixture_path(fixture + ".json")));
  for (const nlohmann::json& prompt : reference.at("prompts")) {
    if (prompt.at("name") == name) return prompt;
  }
  FAIL("no prompt " << name);
  return {};
}

// stderr is one line, which begins with "rung: " and holds all of these; status 1, nothing on stdout.
void check_refused(const Output& output, const std::vector<std::string>& parts) {
  CAPTURE(output.err);
  CHECK(output.status == 1);
  CHECK(output.out.empty());
  CHECK(output.err.rfind("rung: ", 0) == 0);
  CHECK(output.err.find('\n') == output.err.size() - 1);
  for (const std::string& part : parts) CHECK_THAT(output.err, Catch::Contains(part));
}

TEST_CASE("generate command: greedy tokens of the fixtures on both devices") {
  const TemporaryFolder folder;
  for (const std::string fixture : {"llama-untied", "llama-rope3", "qwen2-bias", "qwen3"}) {
    const nlohmann::json prompt = reference_prompt(fixture, "text0");
    const std::string file = folder.write("prompt", prompt.at("text").get<std::string>());
    for (const std::string device : {"cpu", "cuda"}) {
      for (const std::string suffix : {".gguf", ""}) {
        if (suffix.empty() && device == "cuda") continue;
        nlohmann::json expected = prompt.at("output_ids");
        if (device == "cuda")
          expected.erase(expected.begin() + 4, expected.end());  // the emulator takes its time
        const Output output = run_generate({"--prompt-file", file, "-n", std::to_string(expected.size()),
                                            "--ignore-eos", "--json", "--device", device},
                                           fixture + suffix);
        CAPTURE(fixture, device, suffix, output.err);
        REQUIRE(output.status == 0);
        const nlohmann::json result = nlohmann::json::parse(output.out);
        CHECK(result.at("prompt_ids") == prompt.at("ids"));
        CHECK(result.at("output_ids") == expected);
        CHECK(result.at("finish_reason") == "length");
        CHECK(result.at("timings").at("prompt_seconds").get<double>() > 0);
        CHECK(result.at("timings").at("decode_seconds").get<double>() > 0);
      }
    }
  }
}

TEST_CASE("generate command: an end token ends the text and is not part of it") {
  const nlohmann::json prompt = reference_prompt("llama-untied", "text1");
  const Output output = run_generate({"-p", prompt.at("text"), "-n", "24", "--json"});
  INFO(output.err);
  REQUIRE(output.status == 0);
  const nlohmann::json result = nlohmann::json::parse(output.out);
  CHECK(result.at("finish_reason") == "stop");
  CHECK(result.at("output_ids").size() == prompt.at("eos_at").get<size_t>() + 1);
  const std::string whole = prompt.at("output_text");
  CHECK(result.at("text") == whole.substr(0, whole.find("<|im_end|>")));
}

TEST_CASE("generate command: stdout holds the text and nothing else") {
  const Output text = run_generate({"-p", "The river turns", "-n", "5"});
  CHECK(text.status == 0);
  CHECK(text.out == ")der than than ladder\n");
  CHECK_THAT(text.err, Catch::Contains("prompt 4 tokens in ") && Catch::Contains("then 4 tokens in ") &&
                           Catch::Contains("tok/s") && Catch::Contains("ended by length"));
  const Output nothing = run_generate({"-p", "The river turns", "-n", "0"});
  CHECK(nothing.status == 0);
  CHECK(nothing.out == "\n");
}

TEST_CASE("generate command: a prompt file is taken byte for byte") {
  const TemporaryFolder folder;
  const auto ids = [&](const std::string& bytes) {
    const Output output = run_generate({"--prompt-file", folder.write("p", bytes), "-n", "1", "--json"});
    CAPTURE(output.err);
    REQUIRE(output.status == 0);
    return nlohmann::json::parse(output.out).at("prompt_ids").get<std::vector<int>>();
  };
  const std::vector<int> plain = ids("a");
  CHECK(ids("a\n").size() > plain.size());
  CHECK(ids("a\n") != ids("a\r\n"));
  CHECK(ids(std::string("a\0b", 3)).size() == 3);
  CHECK(ids("\xff\xfe"
            "a")
            .size() >= 1);  // no UTF-8
  CHECK(ids("<|im_end|>") == std::vector<int>{2});
}

TEST_CASE("generate command: messages go through the chat template") {
  const TemporaryFolder folder;
  const std::string messages = folder.write(
      "m.json", R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "The river"}])");
  const Output output =
      run_generate({"--messages", messages, "--chat-template", "smollm2", "-n", "1", "--json"});
  const Output same =
      run_generate({"-p",
                    "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nThe river<|im_end|>\n"
                    "<|im_start|>assistant\n",
                    "-n", "1", "--json"});
  CAPTURE(output.err);
  REQUIRE(output.status == 0);
  REQUIRE(same.status == 0);
  CHECK(nlohmann::json::parse(output.out).at("prompt_ids") ==
        nlohmann::json::parse(same.out).at("prompt_ids"));
  check_refused(run_generate({"--messages", messages}), {"--chat-template"});
}

TEST_CASE("generate command: messages that are none are refused in one line") {
  const TemporaryFolder folder;
  int number = 0;
  const auto refused = [&](const std::string& json, const std::vector<std::string>& parts) {
    const std::string file = folder.write(std::to_string(number++) + ".json", json);
    CAPTURE(json);
    std::vector<std::string> all = parts;
    all.push_back(file);
    check_refused(run_generate({"--messages", file, "--chat-template", "smollm2"}), all);
  };
  refused("", {"JSON"});
  refused("[{\"role\": \"user\"", {"JSON"});
  refused("[{\"role\": \"user\", \"content\": \"\xff\"}]", {"JSON"});
  refused(std::string("[{\"role\": \"user\", \"content\": \"a\"}]\0garbage", 40), {"JSON", "NUL"});
  refused("[]", {"at least one message"});
  refused("{}", {"list"});
  refused("\"user\"", {"list"});
  refused("[3]", {"message 0", "role"});
  refused(R"([{"role": "user", "content": "a"}, {"content": "a"}])", {"message 1", "role"});
  refused(R"([{"role": "user"}])", {"message 0", "content"});
  refused(R"([{"role": "user", "content": null}])", {"message 0", "content"});
  refused(R"([{"role": 1, "content": "a"}])", {"message 0", "role"});
  const std::string tool = folder.write("tool.json", R"([{"role": "tool", "content": "a"}])");
  check_refused(run_generate({"--messages", tool, "--chat-template", "smollm2"}), {"tool"});
  check_refused(run_generate({"--messages", tool, "--chat-template", "gpt-9"}), {"gpt-9"});
  check_refused(run_generate({"--messages", "/no/such/file"}), {"/no/such/file"});
}

TEST_CASE("generate command: mistakes on the command line are refused in one line") {
  const TemporaryFolder folder;
  check_refused(run_generate({}), {"--prompt", "--messages"});
  check_refused(run_generate({"-p", ""}), {"prompt is empty"});
  check_refused(run_generate({"-p", "a", "--prompt-file", "b"}), {"--prompt"});
  check_refused(run_generate({"--prompt-file", "/no/such/file"}), {"/no/such/file"});
  check_refused(run_generate({"--prompt-file", folder.path()}), {folder.path()});
  check_refused(run_generate({"-p", "a", "--no-such-flag"}), {"--no-such-flag"});
  check_refused(run_generate({"-p", "a", "-n", "-1"}), {"--max-tokens"});
  check_refused(run_generate({"-p", "a", "-n", "many"}), {"many"});
  check_refused(run_generate({"-p", "a", "--device", "tpu"}), {"tpu"});
  check_refused(run_generate({"-p", "a", "-t", "-2"}), {"--threads"});
  check_refused(run_generate({"-p", "a", "--weights", "f8"}), {"f8"});
  check_refused(run_generate({"-p", "caf\xe9"}), {"UTF-8", "byte 3"});
  check_refused(testing::run_program({"generate", "-p", "a", "-m", "/no/model.gguf"}), {"/no/model.gguf"});
  check_refused(testing::run_program({"generate", "-p", "a", "-m", folder.path()}), {folder.path()});
  check_refused(testing::run_program({"generate", "-p", "a", "-m", folder.write("empty.gguf", "")}),
                {"empty.gguf"});
}

TEST_CASE("generate command: a prompt longer than the model's context is refused with both numbers") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "\x01";  // no two of them make one token
  const Output output = run_generate({"--prompt-file", folder.write("long", text), "-n", "1"});
  check_refused(output, {"3000 tokens", "space for 512"});
}

// The results of `generate --prompts` with these request lines, one JSON value a line.
std::vector<nlohmann::json> run_prompts(const std::string& lines, std::vector<std::string> arguments,
                                        int status = 0) {
  const TemporaryFolder folder;
  arguments.insert(arguments.end(), {"--prompts", folder.write("requests.jsonl", lines)});
  const Output output = run_generate(arguments);
  CAPTURE(output.err);
  REQUIRE(output.status == status);
  std::vector<nlohmann::json> results;
  std::istringstream text(output.out);
  for (std::string line; std::getline(text, line);) results.push_back(nlohmann::json::parse(line));
  REQUIRE_FALSE(results.empty());
  return results;
}

TEST_CASE("generate command: a file of requests gives a line each, in order, in batches of any size") {
  const std::string lines =
      "{\"prompt\": \"The river turns\", \"max_tokens\": 5}\n"
      "\n"
      "{\"messages\": [{\"role\": \"user\", \"content\": \"The river\"}], \"stop\": [\"x\", \"e\"]}\r\n"
      "{\"prompt\": \"The\", \"temperature\": 2.5, \"seed\": 18446744073709551615, \"top_k\": 0}\n"
      "{\"prompt\": \"The river turns\", \"max_tokens\": 5, \"stop\": \" ladder\", \"ignore_eos\": true}\n"
      "{\"prompt\": \"The river turns\", \"max_tokens\": 2, \"logprobs\": true}";
  std::vector<nlohmann::json> first;
  for (const std::string batch : {"1", "2", "3", "8"}) {
    for (const std::string device : {"cpu", "cuda"}) {
      if (device == "cuda" && batch != "8") continue;  // the emulator takes its time
      std::vector<nlohmann::json> results = run_prompts(
          lines,
          {"--batch", batch, "-n", "6", "--seed", "9", "--chat-template", "smollm2", "--device", device});
      REQUIRE(results.size() == 5);
      for (nlohmann::json& result : results) {
        CHECK(result.at("timings").at("decode_seconds").get<double>() > 0);
        CHECK(result.at("peak_bytes").get<int64_t>() > 0);
        result.erase("timings");
        result.erase("peak_bytes");     // of the whole process, so it only grows
        result.erase("cached_tokens");  // depends on what ran before
        if (result.contains("log_probabilities")) result.erase("log_probabilities");
      }
      CAPTURE(batch, device);
      if (first.empty()) first = results;
      CHECK(results == first);
    }
  }
  CHECK(first[0].at("text") == ")der than than ladder");
  CHECK(first[0].at("finish_reason") == "length");
  CHECK(first[0].at("seed") == 9);
  CHECK(first[2].at("seed") == 18446744073709551615u);
  CHECK(first[2].at("output_ids").size() <= 6);
  CHECK(first[3].at("text") == ")der than than");
  CHECK(first[3].at("finish_reason") == "stop");
  CHECK(first[4].at("output_ids").size() == 2);
}

TEST_CASE("generate command: a request that is none gets a line that says why, and harms no other") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> bad = {
      {"{", {"line 2", "JSON object"}},
      {"[3]", {"line 3", "JSON object"}},
      {"{\"prompt\": \"a\", \"messages\": []}", {"line 4", "either"}},
      {"{\"max_tokens\": 3}", {"line 5", "either"}},
      {"{\"prompt\": 3}", {"line 6", "prompt", "text"}},
      {"{\"prompt\": \"a\", \"max_token\": 3}", {"line 7", "max_token"}},
      {"{\"prompt\": \"a\", \"max_tokens\": -1}", {"line 8", "max_tokens is -1"}},
      {"{\"prompt\": \"a\", \"temperature\": \"warm\"}", {"line 9", "temperature", "number"}},
      {"{\"prompt\": \"a\", \"top_p\": 0}", {"line 10", "top_p"}},
      {"{\"prompt\": \"a\", \"stop\": [1]}", {"line 11", "stop"}},
      {"{\"prompt\": \"a\", \"ignore_eos\": 1}", {"line 12", "ignore_eos", "true or false"}},
      {"{\"prompt\": \"a\", \"seed\": 1.5}", {"line 13", "seed"}},
      {"{\"messages\": []}", {"line 14", "at least one message"}},
      {"{\"prompt\": \"\"}", {"prompt is empty"}},
      {"{\"prompt\": \"a\", \"stop\": \"\"}", {"stop string is empty"}},
      {"{\"prompt\": \"caf\xe9\"}", {"line 17"}},
  };
  const std::string good = "{\"prompt\": \"The river turns\", \"max_tokens\": 5}\n";
  std::string lines = good;
  for (const auto& [line, parts] : bad) lines += line + "\n";
  const std::vector<nlohmann::json> results = run_prompts(lines + good, {"--batch", "4"}, 1);
  REQUIRE(results.size() == bad.size() + 2);
  for (size_t i = 0; i < bad.size(); ++i) {
    for (const std::string& part : bad[i].second)
      CHECK_THAT(results[i + 1].at("error").get<std::string>(), Catch::Contains(part));
  }
  CHECK(results.front().at("text") == ")der than than ladder");
  CHECK(results.back().at("text") == ")der than than ladder");
}

TEST_CASE("generate command: several answers to a prompt are a line each, with seeds of their own") {
  const std::string request = "\"prompt\": \"The river turns\", \"max_tokens\": 5, \"temperature\": 2";
  std::string lines = "{" + request + ", \"n\": 3, \"seed\": 7}\n";
  for (const char* seed : {"7", "8", "9"}) lines += "{" + request + ", \"seed\": " + seed + "}\n";
  const std::vector<nlohmann::json> results = run_prompts(lines, {"--batch", "2"});
  REQUIRE(results.size() == 6);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(results[i].at("answer") == i);
    CHECK(results[i].at("seed") == 7 + i);
    CHECK(results[i].at("output_ids") == results[i + 3].at("output_ids"));
    CHECK(results[i].at("text") == results[i + 3].at("text"));
    CHECK_FALSE(results[i + 3].contains("answer"));
  }
  CHECK(results[0].at("text") != results[1].at("text"));

  const Output output =
      testing::run_program({"generate", "-m", fixture_path("llama-untied.gguf"), "-p", "The river turns",
                            "-n", "5", "--temperature", "2", "--seed", "7", "--answers", "3", "--json"});
  REQUIRE(output.status == 0);
  std::istringstream text(output.out);
  size_t count = 0;
  for (std::string line; std::getline(text, line); ++count)
    CHECK(nlohmann::json::parse(line).at("text") == results[count].at("text"));
  CHECK(count == 3);
  check_refused(run_generate({"-p", "a", "--answers", "2"}), {"--answers", "--json"});
  check_refused(run_generate({"-p", "a", "--answers", "0", "--json"}), {"--answers"});
  check_refused(run_generate({"-p", "", "--answers", "2", "--json"}), {"prompt is empty"});
  CHECK_THAT(run_prompts("{\"prompt\": \"a\", \"n\": 0}", {}, 1)[0].at("error").get<std::string>(),
             Catch::Contains("n is 0") && Catch::Contains("from 1 to 128"));
}

TEST_CASE("generate command: a recording of its steps") {
  const TemporaryFolder folder;
  const std::string path = folder.write("record.json", "");
  run_prompts("{\"prompt\": \"The river turns\"}\n{\"prompt\": \"\"}\n{\"prompt\": \"The\", \"n\": 2}",
              {"-n", "3", "--batch", "2", "--block-size", "2", "--record", path}, 1);
  std::ifstream file(path);
  const nlohmann::json record = nlohmann::json::parse(file);
  CHECK(record.at("version") == 1);
  CHECK(record.at("block_size") == 2);
  CHECK(record.at("steps").size() == 3 + 3 + 1);
  std::map<int, std::string> reasons;
  for (const auto& step : record.at("steps")) {
    for (const auto& ended : step.at("finished")) reasons[ended.at("id")] = ended.at("reason");
  }
  CHECK(reasons == std::map<int, std::string>{{0, "length"}, {1, "error"}, {2, "length"}, {3, "length"}});
  for (const auto& block : record.at("steps").back().at("blocks")) CHECK(block.at("by").empty());
  check_refused(run_generate({"-p", "a", "--record", path}), {"--record", "--prompts"});
  check_refused(
      run_generate({"--prompts", folder.write("r", "{\"prompt\": \"a\"}"), "--record", "/no/such/folder/r"}),
      {"/no/such/folder/r"});
}

TEST_CASE("generate command: a file of requests that is none is refused") {
  const TemporaryFolder folder;
  check_refused(run_generate({"--prompts", "/no/such/file"}), {"/no/such/file"});
  check_refused(run_generate({"--prompts", folder.write("empty", "\n \n")}), {"empty", "no request"});
  check_refused(run_generate({"--prompts", folder.write("a", "{}"), "-p", "a"}), {"--prompt"});
  check_refused(run_generate({"--prompts", folder.write("b", "{}"), "--batch", "0"}), {"--batch"});
  const std::vector<nlohmann::json> results = run_prompts(
      "{\"prompt\": \"" + std::string(600, '~') + "\"}\n{\"prompt\": \"The river turns\", \"max_tokens\": 5}",
      {}, 1);
  CHECK_THAT(results[0].at("error").get<std::string>(),
             Catch::Contains("tokens and the context has space for"));
  CHECK(results[1].at("text") == ")der than than ladder");
}

}  // namespace
}  // namespace rung
