// Device memory: what goes up comes down unchanged, and copies refuse what does not fit.
#include <cstring>

#include "rung/error.h"
#include "tensor/device_tensor.h"
#include "testing/catch.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

TEMPLATE_TEST_CASE("a tensor comes back from the device as it went", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const int64_t count = GENERATE(0, 1, 7, 1000, 100003);
  const Tensor host = random_tensor({count}, 1);
  const Tensor there = upload(device, host);
  CHECK(there.place() == (std::is_same_v<TestType, Cuda> ? Place::device : Place::host));
  CHECK(there.shape() == host.shape());
  CHECK(compare_bits(floats(download(device, there)), floats(host)) == "");
}

TEST_CASE("a tensor's memory on the device has room for every byte") {
  Cuda& device = the_device<Cuda>();
  const DType dtype = GENERATE(DType::f32, DType::bf16, DType::q4_1);
  Tensor there = empty(device, dtype, {3, 64});
  CHECK(there.place() == Place::device);
  CHECK(there.dtype() == dtype);
  CHECK(there.shape() == Shape{3, 64});
  const std::vector<unsigned char> sent(there.bytes(), 0x5a);
  std::vector<unsigned char> back(there.bytes());
  RUNG_CUDA_CHECK(cudaMemcpy(there.raw(), sent.data(), sent.size(), cudaMemcpyHostToDevice));
  RUNG_CUDA_CHECK(cudaMemcpy(back.data(), there.raw(), back.size(), cudaMemcpyDeviceToHost));
  CHECK(back == sent);
}

TEMPLATE_TEST_CASE("copies keep every type's bytes", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const DType dtype = GENERATE(DType::f16, DType::bf16, DType::i32, DType::q4_1, DType::q6_k);
  Tensor host = Tensor::host(dtype, {3, 256});
  for (size_t i = 0; i < host.bytes(); ++i) {
    static_cast<unsigned char*>(host.raw())[i] = static_cast<unsigned char>(i * 37 + 11);
  }
  Tensor there = empty(device, dtype, {3, 256});
  copy(device, there, host);
  Tensor again = empty(device, dtype, {768});
  copy(device, again, there);
  const Tensor back = download(device, again);
  REQUIRE(back.bytes() == host.bytes());
  CHECK(std::memcmp(back.raw(), host.raw(), host.bytes()) == 0);
}

TEST_CASE("host memory may change as soon as upload and copy have returned") {
  Cuda& device = the_device<Cuda>();
  Tensor host = tensor_of({1.0f, 2.0f, 3.0f}, {3});
  const Tensor first = upload(device, host);
  Tensor second = empty(device, DType::f32, {3});
  copy(device, second, host);
  for (int i = 0; i < 3; ++i) host.data<float>()[i] = 9;
  CHECK(compare_bits(floats(download(device, first)), std::vector<float>{1, 2, 3}) == "");
  CHECK(compare_bits(floats(download(device, second)), std::vector<float>{1, 2, 3}) == "");
}

TEST_CASE("a slice of a device tensor starts at its rows") {
  Cuda& device = the_device<Cuda>();
  const Tensor there = upload(device, tensor_of({0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f}, {3, 2}));
  CHECK(compare_bits(floats(download(device, there.slice(1, 2))), std::vector<float>{2, 3, 4, 5}) == "");
}

TEMPLATE_TEST_CASE("a copy between different types or sizes is refused", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Tensor four = empty(device, DType::f32, {4});
  CHECK_THROWS_WITH(copy(device, four, tensor_of({1.0f, 2.0f, 3.0f}, {3})),
                    "cannot copy [3] of F32 to [4] of F32");
  CHECK_THROWS_WITH(copy(device, four, tensor_of({1, 2, 3, 4})), "cannot copy [4] of I32 to [4] of F32");
}
