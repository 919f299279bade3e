"""Writes silu_values.h: SiLU and SwiGLU of ordinary and extreme numbers, computed by PyTorch in float64 and rounded to float32."""
import torch

gate = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -1.2784645, 3.0, -3.0, 10.0, -10.0, 20.0, -20.0, 50.0, -50.0, 87.0, -87.0, 88.5, -88.5,
                     89.0, -89.0, 104.0, -104.0, 1000.0, -1000.0, 1e-30, -1e-30, 1e30, -1e30, 1e38, -1e38])
up = torch.linspace(-2, 2, len(gate))
silu = torch.nn.functional.silu(gate.double())
gated = silu * up.double()


def array(name, values):
    numbers = [f"{v:.9g}" for v in values.float().flatten().tolist()]
    numbers = [n if any(c in n for c in ".e") else n + ".0" for n in numbers]
    lines = [", ".join(n + "f" for n in numbers[i:i + 6]) for i in range(0, len(numbers), 6)]
    return f"constexpr float {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"


with open(__file__.rsplit("/", 1)[0] + "/silu_values.h", "w") as out:
    out.write("// SiLU of ordinary and extreme numbers, computed by PyTorch in float64.\n")
    out.write("// Written by make_silu_values.py.\n#pragma once\n\nnamespace silu_values {\n\n// clang-format off\n")
    out.write(array("kGate", gate) + array("kUp", up) + array("kSilu", silu) + array("kGated", gated))
    out.write("// clang-format on\n\n}  // namespace silu_values\n")
