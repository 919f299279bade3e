// exp() with the same bits on every machine (the C library's differs between versions and processors).
#pragma once

namespace rung {

// e^x for x <= 0, relative error below 1e-15; 0 below -708 and for minus infinity. Only IEEE 754 additions
// and multiplications of doubles, in a fixed order.
double portable_exp(double x);

}  // namespace rung
