// Reads the JSON files of reference values.
#include "tests/token_references.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "testing/fixture.h"

namespace rung::testing {

namespace {

nlohmann::json read(const std::string& fixture) {
  return nlohmann::json::parse(read_file(fixture_path(fixture)));
}

}  // namespace

std::vector<TokenCase> token_cases(const std::string& vocabulary) {
  const nlohmann::json file = read("../reference/tokenizer.json");
  const nlohmann::json& expected = file["vocabularies"][vocabulary];
  std::vector<TokenCase> cases;
  for (size_t i = 0; i < file["texts"].size(); ++i) {
    cases.push_back({file["texts"][i], expected["ids"][i], {}, expected["plain"][i]});
  }
  return cases;
}

std::vector<TokenCase> fixture_token_cases(const std::string& fixture) {
  const nlohmann::json file = read(fixture + ".json");
  std::vector<TokenCase> cases;
  for (const nlohmann::json& entry : file["tokenizer"]["cases"]) {
    cases.push_back({entry["text"], entry["ids"], entry["ids_with_bos"], entry["ids_no_special"]});
  }
  return cases;
}

std::vector<std::pair<std::string, std::string>> normalization_cases() {
  std::vector<std::pair<std::string, std::string>> cases;
  const nlohmann::json file = read("../reference/small.json");
  for (const nlohmann::json& entry : file["nfc"]) cases.emplace_back(entry[0], entry[1]);
  return cases;
}

std::string flagged_tokenizer_json() {
  return read("../reference/small.json")["added"]["tokenizer"].dump();
}

std::vector<TokenCase> flagged_token_cases() {
  std::vector<TokenCase> cases;
  const nlohmann::json file = read("../reference/small.json");
  for (const nlohmann::json& entry : file["added"]["cases"]) {
    cases.push_back({entry[0], entry[1], {}, {}});
  }
  return cases;
}

std::vector<ChatCase> chat_cases() {
  std::vector<ChatCase> cases;
  const nlohmann::json file = read("../reference/chat.json");
  for (const nlohmann::json& entry : file["cases"]) {
    ChatCase chat;
    chat.family = entry["family"];
    for (const nlohmann::json& message : entry["messages"]) {
      chat.messages.push_back({message["role"], message["content"]});
    }
    chat.options.family = chat.family;
    chat.options.date = entry["date"];
    chat.options.thinking = entry["thinking"];
    chat.options.add_generation_prompt = entry["prompt"];
    chat.text = entry["text"];
    cases.push_back(std::move(chat));
  }
  return cases;
}

std::string vocabulary_path(const std::string& name) {
  namespace fs = std::filesystem;
  const char* folder = std::getenv("RUNG_VOCABULARIES");
  const fs::path path =
      (folder != nullptr ? fs::path(folder) : fs::path(fixture_path("../..")) / "models" / "vocabularies") /
      name;
  return fs::exists(path) ? path.string() : "";
}

}  // namespace rung::testing
