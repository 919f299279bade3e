// Integers gathered on the host arrive together, and again after the next send.
#include "tensor/staged_integers.h"

#include "rung/error.h"
#include "testing/catch.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

TEMPLATE_TEST_CASE("staged integers: arrive in one copy, round after round", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  StagedIntegers staged(device, 6);
  const auto on_host = [&](const Tensor& tensor) {
    const Tensor host = download(device, tensor);
    return std::vector<int32_t>(host.data<int32_t>(), host.data<int32_t>() + host.elements());
  };
  for (int32_t round = 0; round < 3; ++round) {
    const std::vector<int32_t> first = {round, -1}, none, second = {7, 8, 9, 10 * round};
    const Tensor a = staged.add(first), b = staged.add(none), c = staged.add(second);
    CHECK_THROWS_WITH(staged.add(first), Catch::Contains("6"));
    staged.send(device);
    CHECK(on_host(a) == first);
    CHECK(b.elements() == 0);
    CHECK(on_host(c) == second);
  }
}
