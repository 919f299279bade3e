"""Writes sampling_references.h: what Hugging Face transformers' logits processors make of some rows of logits, and what
Python's exact integers and mpmath make of the generator and of exp. Needs torch, transformers and mpmath.

  python make_sampling_references.py > sampling_references.h
"""

import math
import random

import mpmath
import torch
from transformers.generation.logits_process import (LogitsProcessorList, MinPLogitsWarper, RepetitionPenaltyLogitsProcessor,
                                                    TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

torch.manual_seed(12)
random.seed(12)
INF = float("inf")


def f32(values):
    return torch.tensor(values, dtype=torch.float32)


normal = torch.randn(67) * 3
outliers = torch.randn(129)
outliers[[5, 77]] = f32([60.0, 57.5])
outliers[100] = -300.0
masked = torch.randn(41) * 2
masked[::3] = -INF
ties = f32([2, 5, 5, 1, 5, 3, 3, -1, 3, 2, 0, 5])
ROWS = {
    "one": f32([-3.5]),
    "pencil": f32([2, 1, 0, -1]),
    "ties": ties,
    "normal": normal,
    "outliers": outliers,
    "masked": masked,
    "only_one_possible": f32([-INF, -INF, -7, -INF, -INF]),
}

# temperature, top_k, top_p, min_p, repetition_penalty
PARAMETERS = [
    (1, 0, 1, 0, 1), (0.7, 0, 1, 0, 1), (1e-3, 0, 1, 0, 1), (100, 0, 1, 0, 1),
    (1, 1, 1, 0, 1), (1, 2, 1, 0, 1), (1, 3, 1, 0, 1), (1.5, 7, 1, 0, 1), (1, 1000, 1, 0, 1),
    (1, 0, 0.5, 0, 1), (1, 0, 0.9, 0, 1), (1, 0, 0.999, 0, 1), (1, 0, 1e-6, 0, 1), (2, 0, 0.75, 0, 1),
    (1, 0, 1, 0.1, 1), (1, 0, 1, 1, 1), (3, 0, 1, 0.5, 1), (1, 0, 1, 1e-4, 1),
    (1, 0, 1, 0, 1.3), (1, 0, 1, 0, 0.5), (1, 0, 1, 0, 20),
    (0.8, 20, 0.9, 0.02, 1.1), (1.7, 5, 0.8, 0.3, 1.5), (0.3, 40, 0.95, 0.05, 0.9), (100, 10, 0.5, 0.9, 2),
]
SEEN = [0, 5, 3, 5, 2, 5]


def processors(temperature, top_k, top_p, min_p, penalty):
    chain = LogitsProcessorList()
    if penalty != 1:
        chain.append(RepetitionPenaltyLogitsProcessor(float(penalty)))
    chain.append(TemperatureLogitsWarper(float(temperature)))
    if top_k > 0:
        chain.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        chain.append(TopPLogitsWarper(float(top_p)))
    if min_p > 0:
        chain.append(MinPLogitsWarper(float(min_p)))
    return chain


def cut_in_a_tie(row, expected, top_p):
    """Whether top-p had to choose among equals: which of them it keeps is not defined."""
    kept = expected > 0
    return top_p < 1 and any(kept[i] != kept[j] and row[i] == row[j] and row[i] > -INF
                             for i in range(len(row)) for j in range(len(row)))


def number(value):
    if value == -INF:
        return "-INFINITY"
    value = float(value)
    text = f"{0.0 if abs(value) < 1e-45 else value:.9g}"  # float32 has nothing smaller
    return text if "." in text or "e" in text else text + ".0"


def floats(values):
    return ", ".join(number(v) + "f" if v != -INF else "-INFINITY" for v in values)


def splitmix64(state):
    """Steele, Lea, Flood 2014: the next state and its output, in integers that cannot overflow."""
    state = (state + 0x9E3779B97F4A7C15) % 2**64
    z = state
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return state, z ^ (z >> 31)


print("""// What Hugging Face transformers' logits processors, torch, mpmath and Python's integers make of the cases below.
// Written by make_sampling_references.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace sampling_references {

// clang-format off
struct Row { const char* name; std::vector<float> logits; std::vector<float> log_softmax; };
inline const std::vector<Row> kRows = {""")
for name, row in ROWS.items():
    print(f'    {{"{name}", {{{floats(row.tolist())}}},\n     {{{floats(torch.log_softmax(row.double(), 0).tolist())}}}}},')
print("};")
print(f"inline const std::vector<int32_t> kSeen = {{{', '.join(map(str, SEEN))}}};  // ids past a row's end do not count")
print("""
// The processors' probabilities; in_tie: top-p cut through equals, so only which probabilities there are is defined.
struct Distribution {
  int row; float temperature; int top_k; float top_p, min_p, repetition_penalty; bool in_tie; std::vector<float> probabilities;
};
inline const std::vector<Distribution> kDistributions = {""")
for r, (name, row) in enumerate(ROWS.items()):
    seen = torch.tensor([[i for i in SEEN if i < len(row)]])
    for parameters in PARAMETERS:
        scores = processors(*parameters)(seen, row.double()[None])[0]
        probabilities = torch.softmax(scores, 0)
        in_tie = "true" if cut_in_a_tie(row.tolist(), probabilities, parameters[2]) else "false"
        head = ", ".join([number(parameters[0]) + "f", str(parameters[1])] + [number(p) + "f" for p in parameters[2:]])
        print(f"    {{{r}, {head}, {in_tie}, {{{floats(probabilities.tolist())}}}}},")
print("};")

print("\n// SplitMix64 run from the seed one step after the other; draw = (output >> 11) / 2^53.\n"
      "struct Draw { uint64_t seed, step; double draw; };\ninline const std::vector<Draw> kDraws = {")
for seed in (0, 1, 42, 2**32, 2**64 - 1, 0x123456789ABCDEF0):
    state = seed
    for step in range(1001):
        state, output = splitmix64(state)
        if step in (0, 1, 2, 3, 1000):
            print(f"    {{{seed}u, {step}u, {((output >> 11) / 2**53).hex()}}},")
print("};")

print("\n// e^x for these doubles, rounded to nearest from 60 digits.\n"
      "struct Exponential { double x, value; };\ninline const std::vector<Exponential> kExponentials = {")
mpmath.mp.dps = 60
points = [0.0, -1e-300, -1e-17, -2.0**-53, -0.25, -0.34657359027997264, -0.34657359027997270, -0.5, -1.0, -0.6931471805599453, -2.0,
          -10.0, -87.33, -100.5, -500.0, -707.999, -708.0]
points += [-random.random() * 10 ** random.uniform(-3, 2.8) for _ in range(60)]
for x in points:
    print(f"    {{{x.hex()}, {float(mpmath.exp(mpmath.mpf(x))).hex()}}},")
print("};")


def portable_exp(x):
    """The steps of src/engine/exponential.cpp in Python's doubles."""
    k = math.trunc(x * 1.4426950408889634 - 0.5)
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    total = 0.0
    for n in range(13, -1, -1):
        total = total * r + 1 / math.factorial(n)
    return total * 2.0**k


print("\n// The same by the steps that src/engine/exponential.cpp specifies, in Python's doubles.\n"
      "inline const std::vector<Exponential> kExponentialBits = {")
for x in points:
    print(f"    {{{x.hex()}, {portable_exp(x).hex()}}},")
print("};")

print("""
// Tokens drawn with a seed from softmax(logits / temperature), the stretches of [0, 1) in the order of the ids; no draw lies within
// 1e-9 of a border. Computed with mpmath and the integers above.
struct Drawn { int row; float temperature; uint64_t seed; std::vector<int32_t> tokens; };
inline const std::vector<Drawn> kDrawn = {""")
for name, temperature, seed in (("pencil", 1.0, 7), ("ties", 0.5, 1), ("normal", 0.75, 2**63 + 5), ("masked", 2.0, 3), ("outliers", 1.0, 4)):
    row = ROWS[name].tolist()
    weights = [mpmath.exp(mpmath.mpf(l) / mpmath.mpf(temperature)) if l > -INF else mpmath.mpf(0) for l in row]
    total = mpmath.fsum(weights)
    state, tokens = seed, []
    for _ in range(32):
        state, output = splitmix64(state)
        u, below = mpmath.mpf(output >> 11) / 2**53, mpmath.mpf(0)
        for i, weight in enumerate(weights):
            below += weight / total
            assert abs(below - u) > mpmath.mpf("1e-9")
            if u < below:
                tokens.append(i)
                break
    print(f"    {{{list(ROWS).index(name)}, {number(temperature)}f, {seed}u, {{{', '.join(map(str, tokens))}}}}},")
print("};")
print("// clang-format on\n\n}  // namespace sampling_references")
