// One argmax for all rows, one copy to the host; sampled rows on the host's threads.
#include "engine/token_choice.h"

#include <type_traits>

#include "ops/argmax.h"
#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

bool is_greedy(const ChoiceRequest& request) {
  return request.sampling.temperature == 0 && request.sampling.repetition_penalty == 1 &&
         !request.want_log_probability;
}

TokenChoice sample_row(Span<const float> row, const ChoiceRequest& request) {
  TokenChoice choice;
  try {
    choice.id = sample(row, request.seen, request.sampling, request.step);
    if (request.want_log_probability) choice.log_probability = log_probability(row, choice.id);
  } catch (const Error& error) {
    choice.error = error.what();
  }
  return choice;
}

Tensor pinned(DType dtype, const Shape& shape) {
  std::shared_ptr<void> memory = allocate_pinned(row_bytes(dtype, static_cast<size_t>(shape.elements())));
  void* data = memory.get();
  return Tensor(dtype, shape, data, Place::host, std::move(memory));
}

void queue_download(Cuda& device, void* to, const Tensor& from) {
  RUNG_CUDA_CHECK(cudaMemcpyAsync(to, from.raw(), from.bytes(), cudaMemcpyDeviceToHost, device.stream()));
}

}  // namespace

template <class Device>
TokenChooser<Device>::TokenChooser(Device& device, int64_t max_rows)
    : device_(device), ids_(empty(device, DType::i32, {max_rows})) {
  host_ids_ = ids_;
  if constexpr (std::is_same_v<Device, Cuda>) host_ids_ = pinned(DType::i32, ids_.shape());
}

template <class Device>
const float* TokenChooser<Device>::fetch(const Tensor& logits, const std::vector<bool>& wanted) {
  if constexpr (std::is_same_v<Device, Cuda>) {
    const int64_t vocabulary = logits.shape()[1];
    if (host_logits_.empty()) host_logits_ = pinned(DType::f32, {ids_.elements(), vocabulary});
    for (size_t row = 0; row < wanted.size(); ++row) {
      if (!wanted[row]) continue;
      const auto r = static_cast<int64_t>(row);
      queue_download(device_, host_logits_.slice(r, 1).raw(), logits.slice(r, 1));
    }
    device_.synchronize();
    return host_logits_.data<float>();
  } else {
    (void)wanted;
    return logits.data<float>();
  }
}

template <class Device>
std::vector<TokenChoice> TokenChooser<Device>::choose(const Tensor& logits,
                                                      const std::vector<ChoiceRequest>& requests) {
  const auto rows = static_cast<int64_t>(requests.size());
  std::vector<TokenChoice> choices(requests.size());
  std::vector<bool> sampled(requests.size());
  bool any_greedy = false, any_sampled = false;
  for (size_t row = 0; row < requests.size(); ++row) {
    sampled[row] = !is_greedy(requests[row]);
    (sampled[row] ? any_sampled : any_greedy) = true;
  }
  if (any_greedy) {
    Tensor ids = ids_.slice(0, rows);
    argmax(device_, ids, logits);
    if constexpr (std::is_same_v<Device, Cuda>) {
      queue_download(device_, host_ids_.raw(), ids);
      device_.synchronize();
    }
    for (size_t row = 0; row < requests.size(); ++row) {
      choices[row].id = host_ids_.data<int32_t>()[row];
      if (choices[row].id < 0)
        choices[row].error = "the model's logits are not numbers: its weights or its arithmetic are broken";
    }
  }
  if (any_sampled) {
    const float* host = fetch(logits, sampled);
    const auto vocabulary = static_cast<size_t>(logits.shape()[1]);
    const auto sample_one = [&](size_t row) {
      if (sampled[row]) choices[row] = sample_row({host + row * vocabulary, vocabulary}, requests[row]);
    };
    if constexpr (std::is_same_v<Device, Cpu>) {
      device_.pool.parallel_for(requests.size(), sample_one);
    } else {
      if (pool_ == nullptr) pool_ = std::make_unique<ThreadPool>();
      pool_->parallel_for(requests.size(), sample_one);
    }
  }
  return choices;
}

template class TokenChooser<Cpu>;
template class TokenChooser<Cuda>;

}  // namespace rung
