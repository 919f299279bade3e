// Steps of layer 0 that announce themselves, in the order in which the model takes them, on real text: each
// shows what its operation does and leaves its results for the steps after it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model_file/model_file.h"
#include "rung/device.h"
#include "rung/registry.h"
#include "tensor/device_tensor.h"

namespace rung {

// One tensor as a step showed it.
struct TraceView {
  std::string step, name;
  Tensor values;     // float32 on the host, [tokens, …]
  std::string note;  // one line of explanation; may be empty
};

class TraceState {
 public:
  std::shared_ptr<const ModelFile> model;
  std::vector<int32_t> ids;         // the text's tokens
  std::vector<std::string> pieces;  // their text, escaped
  Tensor device_ids;                // [tokens] i32 on the device
  Tensor device_positions;          // [tokens] i32 on the device: 0, 1, 2, …

  const Hyperparameters& hyperparameters() const { return model->hyperparameters(); }
  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }

  // Results on the device by name. Steps set: residual [tokens, hidden]; normed [tokens, hidden]; q [tokens,
  // query_width], k and v [tokens, kv_width] (rope turns q and k in place); attention [tokens, query_width];
  // attention_output [tokens, hidden], not yet added to residual; feed_forward_output [tokens, hidden],
  // added.
  void set(const std::string& name, Tensor tensor) { tensors_[name] = std::move(tensor); }
  // Throws Error naming the tensor if no step before has set it.
  Tensor get(const std::string& name) const;

  // A tensor of the model on the device, as it is stored or expanded to float32. The shape is checked.
  template <class Device>
  Tensor stored(Device& device, const std::string& canonical_name, const Shape& shape) const {
    return upload(device, model->tensor(canonical_name, shape));
  }
  template <class Device>
  Tensor expanded(Device& device, const std::string& canonical_name, const Shape& shape) const {
    return upload(device, to_host_f32(model->tensor(canonical_name, shape)));
  }
  // A weight matrix as a matrix product takes it: as stored on Cpu; on Cuda block formats are expanded.
  Tensor matrix(Cpu& device, const std::string& canonical_name, const Shape& shape) const {
    return stored(device, canonical_name, shape);
  }
  Tensor matrix(Cuda& device, const std::string& canonical_name, const Shape& shape) const {
    const bool blocks = is_quantized(model->tensor(canonical_name, shape).dtype());
    return blocks ? expanded(device, canonical_name, shape) : stored(device, canonical_name, shape);
  }

  // Shows a float32 tensor of the device, [tokens, …], row by row: first values, smallest, largest, root mean
  // square.
  template <class Device>
  void show(Device& device, const std::string& name, const Tensor& tensor, const std::string& note = "") {
    // A copy, because the next step may change the tensor in place.
    if (on_view) on_view(TraceView{step, name, host_copy(download(device, tensor)), note});
  }

  std::string step;                               // the step that runs
  std::function<void(const TraceView&)> on_view;  // empty while a step runs only for its results

 private:
  static Tensor to_host_f32(const Tensor& tensor);
  static Tensor host_copy(const Tensor& tensor);

  std::map<std::string, Tensor> tensors_;
};

class TraceStep {
 public:
  virtual ~TraceStep() = default;
  virtual const char* name() const = 0;     // as given on the command line: "rms_norm"
  virtual const char* summary() const = 0;  // one sentence
  // Steps run in ascending order: embedding 0, rms_norm 10, matmul 20, rope 30, attention 40,
  // feed_forward 50.
  virtual int position() const = 0;
  virtual void run(Cpu& device, TraceState& state) = 0;
  virtual void run(Cuda& device, TraceState& state) = 0;
};

}  // namespace rung

// Registers a class derived from rung::TraceStep; stands once at the end of a file in src/trace.
#define RUNG_TRACE(Class) \
  static const ::rung::Registered<::rung::TraceStep> registered_trace(std::make_unique<Class>())
