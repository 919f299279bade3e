#include "tensor/staged_integers.h"

#include <cstring>

#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

StagedIntegers::StagedIntegers(Cpu&, int64_t capacity)
    : host_(Tensor::host(DType::i32, {capacity})), device_(host_) {}

StagedIntegers::StagedIntegers(Cuda& device, int64_t capacity)
    : device_(empty(device, DType::i32, {capacity})), copied_(std::make_shared<CudaEvent>()) {
  std::shared_ptr<void> memory = allocate_pinned(device_.bytes());
  void* data = memory.get();
  host_ = Tensor(DType::i32, {capacity}, data, Place::host, std::move(memory));
}

void StagedIntegers::wait() const {
  if (copied_ != nullptr) copied_->wait();
}

Tensor StagedIntegers::add(Span<const int32_t> values) {
  if (sent_) {
    wait();
    used_ = 0;
    sent_ = false;
  }
  const auto count = static_cast<int64_t>(values.size());
  if (count > host_.elements() - used_) {
    fail("staged integers: ", count, " more than the ", used_, " there are do not fit ", host_.elements());
  }
  if (count > 0) std::memcpy(host_.data<int32_t>() + used_, values.data(), values.size() * sizeof(int32_t));
  used_ += count;
  return device_.slice(used_ - count, count);
}

void StagedIntegers::send(Cpu&) {
  sent_ = true;
}

void StagedIntegers::send(Cuda& device) {
  RUNG_CUDA_CHECK(cudaMemcpyAsync(device_.raw(), host_.raw(), static_cast<size_t>(used_) * sizeof(int32_t),
                                  cudaMemcpyHostToDevice, device.stream()));
  copied_->record(device.stream());
  sent_ = true;
}

}  // namespace rung
