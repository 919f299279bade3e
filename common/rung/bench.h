// Measurements that announce themselves, and the harness that times them: warm-up, caches emptied before
// every repetition, the median, and the share of what this machine can move or multiply, measured in the same
// run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rung/command_line.h"
#include "rung/device.h"
#include "rung/registry.h"

namespace rung {

// What is multiplied; sums are float32 in any case. A GPU has tensor cores for the 16-bit types.
enum class Arithmetic : uint8_t { f32, f16, bf16 };

// What one call has to do at the least: every input read once, every output written once. 0: not meaningful.
struct Work {
  double bytes = 0;
  double flops = 0;  // a multiply-add counts as two
  Arithmetic arithmetic = Arithmetic::f32;
};

// A number or a text that a whole-model measurement adds to its line: {"decode", 53.1, "tok/s"}.
struct Figure {
  std::string name;
  double number = 0;
  std::string unit;
  std::string text;  // printed instead of the number unless empty
};

struct BenchResult {
  std::string part;    // the BenchPart's name: "rms_norm"
  std::string name;    // the version measured: "warp shuffles"
  std::string shape;   // "2048 x 576"
  std::string device;  // "cpu", "cuda"
  double seconds = 0;  // median of one call
  int repetitions = 0;
  Work work;
  double bytes_per_second = 0, flops_per_second = 0;  // 0 where work says 0
  // seconds that the machine's measured rates allow, divided by seconds; 0 if not measured
  double share = 0;
  std::string share_of;  // the rate that limits: "copy", "gemm", or on a GPU "f16 gemm" or "bf16 gemm"
  std::vector<Figure> figures;
};

struct BenchSettings {
  float seconds = 0.3f;  // time to spend on one measurement, caches' emptying included
  bool compare = true;   // measure the machine's own rates too
  std::string model;     // path of the model that -m chose
};

class Bench {
 public:
  explicit Bench(BenchSettings settings) : settings_(std::move(settings)) {}
  const BenchSettings& settings() const { return settings_; }

  // Times call, which does `work` on `device`, and records a result. On Cuda call queues its work on the
  // device's stream and events time it; on Cpu the clock does.
  void measure(Cpu& device, const std::string& name, const std::string& shape, Work work,
               const std::function<void()>& call);
  void measure(Cuda& device, const std::string& name, const std::string& shape, Work work,
               const std::function<void()>& call);

  // Records a result that a part has timed itself; bytes_per_second, flops_per_second and share are worked
  // out here.
  void record(Cpu& device, BenchResult result);
  void record(Cuda& device, BenchResult result);

  // Bytes a second, read and written counted both, of copying memory that no cache holds; measured once a
  // run.
  double copy_rate(Cpu& device);
  double copy_rate(Cuda& device);
  // Floating-point operations a second: on Cuda of a large cuBLAS product of matrices of that type (TF32
  // off), on Cpu of float32 multiply-adds in registers on all threads; measured once a run.
  double gemm_rate(Cpu& device, Arithmetic arithmetic = Arithmetic::f32);
  double gemm_rate(Cuda& device, Arithmetic arithmetic = Arithmetic::f32);

  // Called with every result when it is recorded.
  std::function<void(const BenchResult&)> on_result;
  const std::vector<BenchResult>& results() const { return results_; }

  void begin_part(const std::string& name) { part_ = name; }

 private:
  template <class Device>
  void finish(Device& device, BenchResult result);

  BenchSettings settings_;
  std::string part_;
  std::map<std::string, double> rates_;
  std::vector<BenchResult> results_;
};

// One file in bench/: measures one operation or one whole-model figure, all its versions side by side.
class BenchPart {
 public:
  virtual ~BenchPart() = default;
  virtual const char* name() const = 0;     // as given on the command line: "rms_norm"
  virtual const char* summary() const = 0;  // one sentence
  // 0: a kernel; 1: a whole model. With no names given, only the parts of the highest level present run.
  virtual int level() const { return 0; }
  // Flags that only this part has; names must be unique among all parts.
  virtual void options(CommandLine&) {}
  // Opens and checks what run() will need. Called before anything is printed, so that an error stands alone.
  virtual void prepare(const BenchSettings&) {}
  virtual void run(Bench& bench, Cpu& device) = 0;
  virtual void run(Bench& bench, Cuda& device) = 0;
};

// One line for people.
std::string text(const BenchResult& result);

}  // namespace rung

// Registers a class derived from rung::BenchPart; stands once at the end of a file in bench/.
#define RUNG_BENCH(Class) \
  static const ::rung::Registered<::rung::BenchPart> registered_bench(std::make_unique<Class>())
