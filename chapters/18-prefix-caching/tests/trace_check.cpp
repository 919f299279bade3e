#include "tests/trace_check.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "testing/fixture.h"
#include "tests/reference.h"

namespace rung::testing {

std::string check_trace(const std::string& fixture, const std::string& step, size_t view,
                        const std::string& name, const std::string& array, const std::string& device,
                        double tolerance) {
  const Reference reference(fixture);
  const Tensor prompt = reference.prompt("len7"), expected = reference.array("len7/" + array);
  std::string ids;
  for (int64_t i = 0; i < prompt.elements(); ++i) {
    ids += (i == 0 ? "" : ",") + std::to_string(prompt.data<int32_t>()[i]);
  }
  const Output output =
      run_program({"trace", step, "-m", fixture_path(fixture), "--ids", ids, "--device", device, "--json"});
  if (output.status != 0) return "status " + std::to_string(output.status) + ": " + output.err;
  const auto json = nlohmann::json::parse(output.out);
  if (json.at("views").size() <= view)
    return "there are only " + std::to_string(json.at("views").size()) + " views";
  const auto& shown = json.at("views").at(view);
  if (shown.at("step") != step || shown.at("name") != name) return "the view is " + shown.at("name").dump();
  const int64_t tokens = expected.shape()[0], width = expected.elements() / tokens;
  if (shown.at("rows").size() != static_cast<size_t>(tokens)) return "rows: " + shown.at("shape").dump();
  for (int64_t token = 0; token < tokens; ++token) {
    const float* row = expected.data<float>() + token * width;
    const auto& got = shown.at("rows").at(static_cast<size_t>(token));
    double squares = 0;
    for (int64_t c = 0; c < width; ++c) squares += static_cast<double>(row[c]) * row[c];
    const double rms = std::sqrt(squares / static_cast<double>(width));
    const auto differs = [&](const nlohmann::json& value, double wanted) {
      return std::abs(value.get<double>() - wanted) > tolerance * std::max(1.0, rms);
    };
    bool wrong = differs(got.at("rms"), rms) || differs(got.at("min"), *std::min_element(row, row + width)) ||
                 differs(got.at("max"), *std::max_element(row, row + width)) || got.at("first").empty();
    for (size_t c = 0; c < got.at("first").size(); ++c)
      wrong = wrong || differs(got.at("first").at(c), row[c]);
    if (wrong) {
      return "token " + std::to_string(token) + " shows " + got.dump() + ", expected rms " +
             std::to_string(rms) + " and first value " + std::to_string(row[0]);
    }
  }
  return "";
}

}  // namespace rung::testing
