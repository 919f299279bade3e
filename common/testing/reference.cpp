// Reads the JSON files that tests/fixtures and tests/reference hold.
#include "testing/reference.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "rung/error.h"
#include "testing/fixture.h"

namespace rung::testing {

ModelReference::ModelReference(const std::string& name) : source_(fixture_path(name + ".json")) {
  const nlohmann::json json = nlohmann::json::parse(read_file(source_));
  for (const auto& prompt : json.at("prompts")) {
    prompts_.push_back({prompt.at("name"), prompt.at("ids"), prompt.at("output_ids")});
  }
  for (const auto& [array, value] : json.at("arrays").items()) {
    Entry entry{array, value.at("offset"), 1, value.at("shape")};
    for (const int64_t size : entry.shape) entry.size *= static_cast<size_t>(size);
    entries_.push_back(std::move(entry));
  }
  values_ = read_floats(fixture_path(name + ".f32"));
  for (const Entry& entry : entries_) {
    if (entry.offset + entry.size > values_.size())
      fail(source_, ": array ", entry.name, " is not all in the .f32 file");
  }
}

const ModelReference::Prompt& ModelReference::prompt(const std::string& name) const {
  for (const Prompt& prompt : prompts_) {
    if (prompt.name == name) return prompt;
  }
  fail(source_, ": there is no prompt ", quoted(name));
}

bool ModelReference::has(const std::string& array) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name == array; });
}

const ModelReference::Entry& ModelReference::entry(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return entry;
  }
  fail(source_, ": there is no array ", quoted(name));
}

Span<const float> ModelReference::array(const std::string& name) const {
  const Entry& found = entry(name);
  return {values_.data() + found.offset, found.size};
}

std::vector<int64_t> ModelReference::shape(const std::string& name) const {
  return entry(name).shape;
}

std::vector<GreedyCase> default_model_cases() {
  const nlohmann::json json =
      nlohmann::json::parse(read_file(fixture_path("../reference/smollm2_greedy.json")));
  std::vector<GreedyCase> cases;
  for (const auto& item : json.at("cases")) {
    cases.push_back(
        {item.at("prompt"), item.at("text"), item.at("ids"), item.at("gen"), item.at("first_top5")});
  }
  return cases;
}

}  // namespace rung::testing
