"""Writes rope_partial.h: heads whose leading elements alone turn, as two models of Hugging Face transformers do it."""
import torch
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as gptj_turn
from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions
from transformers.models.phi.modeling_phi import apply_rotary_pos_emb as phi_turn

TOKENS, HEADS, HEAD_DIM, DIMS = 3, 2, 10, 6
POSITIONS = [0, 5, 9000]

torch.manual_seed(4)
x = torch.randn(TOKENS, HEADS, HEAD_DIM)
positions = torch.tensor(POSITIONS)
frequencies = 1.0 / (10000.0 ** (torch.arange(0, DIMS, 2).float() / DIMS))
angles = positions.float()[:, None] * frequencies

# GPT-J: neighbours turn together.
table = create_sinusoidal_positions(POSITIONS[-1] + 1, DIMS)[positions]
sine, cosine = torch.split(table[None], DIMS // 2, dim=-1)
interleaved = torch.cat([gptj_turn(x[None, ..., :DIMS], sine, cosine)[0], x[..., DIMS:]], -1)

# Phi: the two halves turn together; it wants [batch, heads, tokens, dims].
both = torch.cat([angles, angles], -1)[None]
turning = x[..., :DIMS].transpose(0, 1)[None]
turned, _ = phi_turn(turning, turning, both.cos(), both.sin())
half_split = torch.cat([turned[0].transpose(0, 1), x[..., DIMS:]], -1)


def array(name, values):
    numbers = [f"{v:.9g}" for v in values.flatten().tolist()]
    numbers = [n if any(c in n for c in ".e") else n + ".0" for n in numbers]
    lines = [", ".join(n + "f" for n in numbers[i:i + 10]) for i in range(0, len(numbers), 10)]
    return f"constexpr float {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"


with open(__file__.rsplit("/", 1)[0] + "/rope_partial.h", "w") as out:
    out.write("// Heads of 10 elements of which 6 turn, at positions 0, 5 and 9000, as Hugging Face transformers turns them.\n")
    out.write("// Written by make_rope_partial.py.\n#pragma once\n\nnamespace rope_partial {\n\n// clang-format off\n")
    out.write("// [3 tokens, 2 heads, 10]\n")
    out.write(array("kInput", x) + "// GPT-J\n" + array("kInterleaved", interleaved) + "// Phi\n" + array("kHalfSplit", half_split))
    out.write("// clang-format on\n\n}  // namespace rope_partial\n")
