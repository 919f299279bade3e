#include "model_file/dummy_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model_file/config_json.h"
#include "rung/device.h"
#include "tensor/float16.h"

namespace rung {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void store(DType dtype, void* data, int64_t index, float value) {
  if (dtype == DType::f32) {
    static_cast<float*>(data)[index] = value;
  } else {
    static_cast<uint16_t*>(data)[index] = dtype == DType::f16 ? f32_to_f16(value) : f32_to_bf16(value);
  }
}

class DummyModel : public ModelFile {
 public:
  DummyModel(const std::string& path, DType dtype)
      : path_(path), dtype_(dtype), hyperparameters_(read_config_json(path)) {
    const Hyperparameters& h = hyperparameters_;
    matrix("token_embd.weight", h.vocabulary, h.hidden);
    vector("output_norm.weight", h.hidden, 1);
    if (!h.tied_embeddings) matrix("output.weight", h.vocabulary, h.hidden);
    for (int layer = 0; layer < h.layers; ++layer) {
      const std::string prefix = "blk." + std::to_string(layer) + ".";
      vector(prefix + "attn_norm.weight", h.hidden, 1);
      matrix(prefix + "attn_q.weight", h.query_width(), h.hidden);
      matrix(prefix + "attn_k.weight", h.kv_width(), h.hidden);
      matrix(prefix + "attn_v.weight", h.kv_width(), h.hidden);
      if (h.qkv_bias) {
        vector(prefix + "attn_q.bias", h.query_width(), 0);
        vector(prefix + "attn_k.bias", h.kv_width(), 0);
        vector(prefix + "attn_v.bias", h.kv_width(), 0);
      }
      if (h.qk_norm) {
        vector(prefix + "attn_q_norm.weight", h.head_dim, 1);
        vector(prefix + "attn_k_norm.weight", h.head_dim, 1);
      }
      matrix(prefix + "attn_output.weight", h.hidden, h.query_width());
      vector(prefix + "ffn_norm.weight", h.hidden, 1);
      matrix(prefix + "ffn_gate.weight", h.feed_forward, h.hidden);
      matrix(prefix + "ffn_up.weight", h.feed_forward, h.hidden);
      matrix(prefix + "ffn_down.weight", h.hidden, h.feed_forward);
    }
    uint64_t bytes = 0;
    for (const Planned& planned : plan_)
      bytes += row_bytes(planned.dtype, static_cast<size_t>(planned.shape.elements()));
    check_memory(cpu_, path + ": random weights", bytes);
    for (const Planned& planned : plan_) fill(planned);
  }

  const std::string& path() const override { return path_; }
  const char* format() const override { return "dummy"; }
  const Hyperparameters& hyperparameters() const override { return hyperparameters_; }
  bool mapped() const override { return false; }
  std::vector<std::string> tensor_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors_) names.push_back(name);
    return names;
  }
  std::string stored_name(std::string_view canonical_name) const override {
    return std::string(canonical_name);
  }
  const Tensor* find(std::string_view canonical_name) const override {
    const auto found = tensors_.find(canonical_name);
    return found == tensors_.end() ? nullptr : &found->second;
  }

 private:
  struct Planned {
    std::string name;
    Shape shape;
    DType dtype;
    float value;  // of a vector's elements; a matrix is random
  };

  void matrix(const std::string& name, int64_t rows, int64_t columns) {
    plan_.push_back({name, {rows, columns}, dtype_, 0});
  }
  void vector(const std::string& name, int64_t size, float value) {
    plan_.push_back({name, {size}, DType::f32, value});
  }

  void fill(const Planned& planned) {
    Tensor tensor = Tensor::host(planned.dtype, planned.shape);
    if (planned.shape.dims() == 1) {
      std::fill_n(tensor.data<float>(), planned.shape[0], planned.value);
    } else {
      randomize(tensor, mixed(tensors_.size() + 1));
    }
    tensors_.emplace(planned.name, tensor);
  }

  // Uniform with a standard deviation of 1 / sqrt(columns), as a linear layer is commonly initialised.
  void randomize(const Tensor& matrix, uint64_t seed) {
    const int64_t columns = matrix.shape()[1];
    const float scale = 2 * std::sqrt(3.0f / static_cast<float>(columns));
    cpu_.pool.parallel_for(static_cast<size_t>(matrix.shape()[0]), [&](size_t row) {
      const int64_t begin = static_cast<int64_t>(row) * columns;
      for (int64_t i = begin; i < begin + columns; ++i) {
        const uint64_t bits = mixed(seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u);
        store(dtype_, matrix.raw(), i, (static_cast<float>(bits >> 40) * 0x1p-24f - 0.5f) * scale);
      }
    });
  }

  std::string path_;
  DType dtype_;
  Hyperparameters hyperparameters_;
  Cpu cpu_;
  std::vector<Planned> plan_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace

std::shared_ptr<const ModelFile> dummy_model(const std::string& config_path, DType dtype) {
  return std::make_shared<DummyModel>(config_path, dtype);
}

}  // namespace rung
