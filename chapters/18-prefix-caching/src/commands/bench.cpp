// `bench`: times operations and whole models on this machine, whatever parts stand in bench/.
#include <algorithm>
#include <iostream>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "rung/bench.h"
#include "rung/command_line.h"
#include "rung/error.h"
#include "rung/table.h"

namespace rung {

namespace {

nlohmann::ordered_json json(const BenchResult& result) {
  nlohmann::ordered_json object = {{"part", result.part}, {"name", result.name}, {"device", result.device}};
  if (!result.shape.empty()) object["shape"] = result.shape;
  if (result.seconds > 0) object["seconds"] = result.seconds;
  if (result.repetitions > 0) object["repetitions"] = result.repetitions;
  if (result.work.bytes > 0) {
    object["bytes"] = result.work.bytes;
    object["bytes_per_second"] = result.bytes_per_second;
  }
  if (result.work.flops > 0) {
    object["flops"] = result.work.flops;
    object["flops_per_second"] = result.flops_per_second;
  }
  if (result.share > 0) {
    object["share"] = result.share;
    object["share_of"] = result.share_of;
  }
  for (const Figure& figure : result.figures) {
    if (figure.text.empty()) {
      object[figure.name] = figure.number;
    } else {
      object[figure.name] = figure.text;
    }
  }
  return object;
}

class BenchCommand : public Command {
 public:
  const char* name() const override { return "bench"; }
  const char* summary() const override { return "Time operations and whole models on this machine"; }

  void options(CommandLine& line) override {
    line.option("name", names_,
                "Parts to measure (--list shows them). Default: whole models if there are any, else all.");
    line.flag("--all", all_, "Measure every part.");
    line.flag("--list", list_, "List the parts and measure nothing.");
    line.option("--seconds", settings_.seconds, "Time to spend on one measurement.");
    line.range(0, 3600);
    line.flag("--no-roofline", no_roofline_, "Do not measure what the machine can copy and multiply.");
    model_.add(line);
    device_.add(line);
    line.flag("--json", json_, "Print one JSON object.");
    for (BenchPart* part : sorted_parts()) part->options(line);
  }

  int run() override {
    if (list_) {
      Table table({"part", "measures"});
      for (BenchPart* part : sorted_parts()) table.row({part->name(), part->summary()});
      table.print(std::cout);
      return 0;
    }
    const std::vector<BenchPart*> parts = chosen();
    settings_.compare = !no_roofline_;
    settings_.model = model_.path;
    for (BenchPart* part : parts) part->prepare(settings_);
    device_.visit([&](auto& device) { run_parts(device, parts); });
    return 0;
  }

 private:
  static std::vector<BenchPart*> sorted_parts() {
    std::vector<BenchPart*> parts;
    for (const auto& part : registry<BenchPart>()) parts.push_back(part.get());
    std::sort(parts.begin(), parts.end(), [](const BenchPart* a, const BenchPart* b) {
      return a->level() != b->level() ? a->level() < b->level() : std::string(a->name()) < b->name();
    });
    return parts;
  }

  std::vector<BenchPart*> chosen() const {
    std::vector<BenchPart*> parts = sorted_parts();
    if (names_.empty()) {
      const int level = all_ || parts.empty() ? 0 : parts.back()->level();
      parts.erase(
          std::remove_if(parts.begin(), parts.end(), [&](BenchPart* part) { return part->level() < level; }),
          parts.end());
      return parts;
    }
    std::vector<BenchPart*> named;
    for (const std::string& name : names_) {
      const auto found =
          std::find_if(parts.begin(), parts.end(), [&](BenchPart* part) { return part->name() == name; });
      if (found == parts.end())
        fail("bench: there is no part ", quoted(name), "; rung bench --list shows them");
      named.push_back(*found);
    }
    return named;
  }

  template <class Device>
  void run_parts(Device& device, const std::vector<BenchPart*>& parts) const {
    Bench bench(settings_);
    if (!json_) {
      bench.on_result = [](const BenchResult& result) { std::cout << text(result) << std::endl; };
    }
    for (BenchPart* part : parts) {
      bench.begin_part(part->name());
      part->run(bench, device);
    }
    if (json_) {
      nlohmann::ordered_json results = nlohmann::ordered_json::array();
      for (const BenchResult& result : bench.results()) results.push_back(json(result));
      nlohmann::ordered_json object;
      if (settings_.compare && !(kCudaEmulated && std::is_same_v<Device, Cuda>)) {
        object["copy_bytes_per_second"] = bench.copy_rate(device);
        object["gemm_flops_per_second"] = bench.gemm_rate(device);
      }
      object["results"] = std::move(results);
      std::cout << object.dump() << "\n";
    }
  }

  std::vector<std::string> names_;
  bool all_ = false, list_ = false, json_ = false, no_roofline_ = false;
  BenchSettings settings_;
  ModelOption model_;
  DeviceOption device_;
};

RUNG_COMMAND(BenchCommand);

}  // namespace

}  // namespace rung
