#include "ops/check.h"

#include "rung/error.h"

namespace rung {

namespace {
const char* name(Place place) {
  return place == Place::host ? "the host" : "the device";
}
}  // namespace

void check_operand(const char* what, const Tensor& tensor, const Shape& shape, Place place) {
  check_shape(what, tensor, shape);
  if (tensor.place() != place && tensor.elements() > 0) {
    fail(what, " lies on ", name(tensor.place()), ", expected on ", name(place));
  }
}

void check_operand(const char* what, const Tensor& tensor, DType dtype, const Shape& shape, Place place) {
  check_operand(what, tensor, shape, place);
  if (tensor.dtype() != dtype) {
    fail(what, " is stored as ", name(tensor.dtype()), ", expected ", name(dtype));
  }
}

}  // namespace rung
