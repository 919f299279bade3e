// The measuring harness: what it times, what it derives, and the command that prints it.
#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

#include "rung/bench.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

BenchSettings quick() {
  BenchSettings settings;
  settings.seconds = 0;
  settings.compare = false;
  return settings;
}

void sleep_milliseconds(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEMPLATE_TEST_CASE("bench reports the median time of a call and what follows from it", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Bench bench(quick());
  bench.begin_part("part");
  int calls = 0;
  Work work;
  work.bytes = 3e6;
  work.flops = 6e6;
  // The first call, a warm-up, and one of the measured ones are slow: neither may show.
  bench.measure(device, "name", "shape", work,
                [&] { sleep_milliseconds(calls++ == 0 || calls == 3 ? 150 : 3); });
  REQUIRE(bench.results().size() == 1);
  const BenchResult& result = bench.results()[0];
  CHECK(calls == result.repetitions + 1);
  CHECK(result.repetitions >= 3);
  CHECK(result.part == "part");
  CHECK(result.device == TestType::kName);
  CHECK(result.seconds >= 2.9e-3);
  CHECK(result.seconds < 0.1);
  CHECK(result.bytes_per_second == Approx(3e6 / result.seconds));
  CHECK(result.flops_per_second == Approx(6e6 / result.seconds));
  CHECK(result.share == 0);
  const std::string line = text(result);
  CHECK(line.find("part") == 0);
  for (const char* word : {"name", "shape", " ms", " GB/s", " GFLOP/s"})
    CHECK(line.find(word) != std::string::npos);
}

TEST_CASE("bench gives the share of the rate that limits") {
  BenchSettings settings = quick();
  settings.compare = true;
  Cpu device(2);
  Bench bench(settings);
  const double copy = bench.copy_rate(device), gemm = bench.gemm_rate(device);
  CHECK(copy > 1e8);
  CHECK(gemm > 1e8);
  BenchResult result;
  result.seconds = 1;
  result.work.bytes = copy / 4;
  result.work.flops = gemm / 100;
  bench.record(device, result);
  CHECK(bench.results()[0].share == Approx(0.25));
  CHECK(bench.results()[0].share_of == "copy");
  result.work.flops = gemm / 2;
  bench.record(device, result);
  CHECK(bench.results()[1].share == Approx(0.5));
  CHECK(bench.results()[1].share_of == "gemm");
}

TEST_CASE("bench --list names the parts and --json gives numbers") {
  const Output list = run_program({"bench", "--list"});
  CHECK(list.status == 0);
  CHECK(list.out.find("embedding") != std::string::npos);
  const Output measured = run_program(
      {"bench", "embedding", "--json", "--seconds", "0", "--no-roofline", "--device", "cpu", "-t", "1"});
  REQUIRE(measured.status == 0);
  const auto json = nlohmann::json::parse(measured.out);
  REQUIRE(json.at("results").size() >= 1);
  const auto& first = json.at("results").at(0);
  CHECK(first.at("part") == "embedding");
  CHECK(first.at("device") == "cpu");
  CHECK(first.at("seconds").get<double>() > 0);
  CHECK(first.at("bytes_per_second").get<double>() ==
        Approx(first.at("bytes").get<double>() / first.at("seconds").get<double>()));
}

TEST_CASE("bench refuses a part that does not exist") {
  const Output output = run_program({"bench", "nothing"});
  CHECK(output.status == 1);
  CHECK(output.err.find("there is no part \"nothing\"; rung bench --list shows them") != std::string::npos);
}
