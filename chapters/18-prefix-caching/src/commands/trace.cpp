// `trace`: what each operation does to layer 0 of a real model, on real text.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "ops/embedding.h"
#include "rung/command_line.h"
#include "rung/error.h"
#include "rung/table.h"
#include "tokenizer/tokenizer.h"
#include "trace/trace.h"

namespace rung {

namespace {

constexpr int64_t kFirstValues = 4, kFirstTokens = 8;

struct Row {
  std::vector<float> first;
  float smallest = 0, largest = 0;
  double rms = 0;
};

Row describe(const float* values, int64_t count) {
  Row row;
  double squares = 0;
  row.smallest = row.largest = count > 0 ? values[0] : 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i < kFirstValues) row.first.push_back(values[i]);
    row.smallest = std::min(row.smallest, values[i]);
    row.largest = std::max(row.largest, values[i]);
    squares += static_cast<double>(values[i]) * values[i];
  }
  row.rms = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
  return row;
}

std::vector<Row> describe(const Tensor& tensor, int64_t limit) {
  std::vector<Row> rows;
  const int64_t tokens = tensor.shape().dims() > 0 ? tensor.shape()[0] : 1;
  const int64_t width = tokens > 0 ? tensor.elements() / tokens : 0;
  for (int64_t token = 0; token < std::min(tokens, limit); ++token) {
    rows.push_back(describe(tensor.data<float>() + token * width, width));
  }
  return rows;
}

void print(const TraceView& view, const TraceState& state) {
  std::cout << "\n" << view.name << " " << view.values.shape().text() << "\n";
  if (!view.note.empty()) std::cout << "  " << view.note << "\n";
  std::vector<std::string> header = {"  token", "first values"};
  header.resize(1 + kFirstValues);
  for (const char* column : {"…", "min", "max", "rms"}) header.push_back(column);
  Table table(header);
  const std::vector<Row> rows = describe(view.values, kFirstTokens);
  for (size_t token = 0; token < rows.size(); ++token) {
    std::vector<std::string> cells = {"  " + state.pieces[token]};
    for (float value : rows[token].first) cells.push_back(fixed(value, 4));
    cells.resize(1 + kFirstValues);
    cells.push_back("…");
    cells.push_back(fixed(rows[token].smallest, 4));
    cells.push_back(fixed(rows[token].largest, 4));
    cells.push_back(fixed(rows[token].rms, 4));
    table.row(cells);
  }
  table.print(std::cout);
  if (state.tokens() > kFirstTokens) std::cout << "  … " << state.tokens() - kFirstTokens << " more tokens\n";
}

nlohmann::ordered_json json(const TraceView& view) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : describe(view.values, view.values.elements())) {
    rows.push_back({{"first", row.first}, {"min", row.smallest}, {"max", row.largest}, {"rms", row.rms}});
  }
  nlohmann::ordered_json shape = nlohmann::ordered_json::array();
  for (int i = 0; i < view.values.shape().dims(); ++i) shape.push_back(view.values.shape()[i]);
  return {{"step", view.step}, {"name", view.name}, {"shape", shape}, {"note", view.note}, {"rows", rows}};
}

class Trace : public Command {
 public:
  const char* name() const override { return "trace"; }
  const char* summary() const override { return "Show what each operation does to layer 0, on real text"; }

  void options(CommandLine& line) override {
    std::string all;
    for (TraceStep* step : sorted_steps()) {
      all += std::string(all.empty() ? "" : ", ") + step->name() + " (" + step->summary() + ")";
    }
    line.option("step", names_, "Steps to show; all if none is named: " + all + ".");
    model_.add(line);
    line.option("--text", text_, "The text to run through the layer.");
    line.option("--ids", ids_, "Token ids to run instead of a text, separated by commas.");
    line.excludes("--text");
    device_.add(line);
    line.flag("--json", json_, "Print one JSON object.");
  }

  int run() override {
    const std::vector<TraceStep*> steps = sorted_steps();
    for (const std::string& name : names_) {
      if (std::none_of(steps.begin(), steps.end(), [&](TraceStep* step) { return step->name() == name; })) {
        fail("trace: there is no step ", quoted(name), "; rung trace --help lists them");
      }
    }
    TraceState state;
    state.model = model_.open();
    read_text(state);
    nlohmann::ordered_json views = nlohmann::ordered_json::array();
    device_.visit([&](auto& device) { run_steps(device, state, steps, views); });
    if (json_) {
      std::cout
          << nlohmann::ordered_json{{"ids", state.ids}, {"pieces", state.pieces}, {"views", views}}.dump()
          << "\n";
    }
    return 0;
  }

 private:
  static std::vector<TraceStep*> sorted_steps() {
    std::vector<TraceStep*> steps;
    for (const auto& step : registry<TraceStep>()) steps.push_back(step.get());
    std::sort(steps.begin(), steps.end(),
              [](const TraceStep* a, const TraceStep* b) { return a->position() < b->position(); });
    return steps;
  }

  void read_text(TraceState& state) const {
    const Tokenizer tokenizer = load_tokenizer(*state.model);
    state.ids = ids_.empty() ? tokenizer.encode(text_) : parse_ids(ids_);
    if (state.ids.empty()) fail("trace: --text has no tokens");
    check_token_ids(ids_tensor(state), state.hyperparameters().vocabulary);
    for (const int32_t id : state.ids) {
      state.pieces.push_back(quoted(tokenizer.piece(id), 24));
    }
  }

  static std::vector<int32_t> parse_ids(const std::string& text) {
    std::vector<int32_t> ids;
    const char *at = text.data(), *const end = at + text.size();
    while (true) {
      int32_t id = 0;
      const auto [next, error] = std::from_chars(at, end, id);
      if (error != std::errc() || (next != end && *next != ',')) {
        fail("trace: --ids ", quoted(text), ": expected numbers separated by commas");
      }
      ids.push_back(id);
      if (next == end) return ids;
      at = next + 1;
    }
  }

  static Tensor ids_tensor(const TraceState& state) {
    Tensor ids = Tensor::host(DType::i32, {state.tokens()});
    std::copy(state.ids.begin(), state.ids.end(), ids.data<int32_t>());
    return ids;
  }

  bool shown(const TraceStep& step) const {
    return names_.empty() || std::find(names_.begin(), names_.end(), step.name()) != names_.end();
  }

  template <class Device>
  void run_steps(Device& device, TraceState& state, const std::vector<TraceStep*>& steps,
                 nlohmann::ordered_json& views) const {
    Tensor positions = Tensor::host(DType::i32, {state.tokens()});
    std::iota(positions.data<int32_t>(), positions.data<int32_t>() + state.tokens(), 0);
    state.device_ids = upload(device, ids_tensor(state));
    state.device_positions = upload(device, positions);
    if (!json_) {
      std::cout << state.tokens() << (state.tokens() == 1 ? " token:" : " tokens:");
      for (size_t i = 0; i < state.ids.size(); ++i)
        std::cout << " " << state.ids[i] << " " << state.pieces[i];
      std::cout << "\n";
    }
    size_t left = 0;  // steps still to show
    for (const TraceStep* step : steps) left += shown(*step);
    for (TraceStep* step : steps) {
      if (left == 0) break;
      state.step = step->name();
      state.on_view = nullptr;
      if (shown(*step)) {
        --left;
        if (!json_) std::cout << "\n== " << step->name() << ": " << step->summary() << "\n";
        state.on_view = [&](const TraceView& view) {
          if (json_) {
            views.push_back(json(view));
          } else {
            print(view, state);
          }
        };
      }
      step->run(device, state);
    }
  }

  std::vector<std::string> names_;
  ModelOption model_;
  std::string text_ = "The capital of France is", ids_;
  DeviceOption device_;
  bool json_ = false;
};

RUNG_COMMAND(Trace);

}  // namespace

}  // namespace rung
