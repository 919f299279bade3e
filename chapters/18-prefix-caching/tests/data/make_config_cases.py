"""Makes ../config_cases.h: configurations, and what Hugging Face transformers reads from each.

    python make_config_cases.py > ../config_cases.h
"""

import copy
import json

import transformers
from transformers import CONFIG_MAPPING

SHAPE = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 512}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}

CASES = {
    "llama, only the shape": {"model_type": "llama"},
    "llama, nulls": {"model_type": "llama", "num_key_value_heads": None, "head_dim": None, "rope_scaling": None},
    "llama, everything": {
        "model_type": "llama", "num_key_value_heads": 2, "head_dim": 24, "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
        "max_position_embeddings": 131072, "attention_bias": False, "mlp_bias": False, "hidden_act": "silu", "rope_theta": 500000.0,
    },
    "llama, theta as a whole number": {"model_type": "llama", "rope_theta": 500000},
    "llama, linear, oldest spelling": {"model_type": "llama", "rope_theta": 25000.0, "rope_scaling": {"type": "linear", "factor": 4}},
    "llama, linear, newest spelling": {
        "model_type": "llama", "rope_parameters": {"rope_type": "linear", "rope_theta": 25000.0, "factor": 4.0},
    },
    "llama, both words for the kind": {
        "model_type": "llama", "rope_scaling": {"type": "linear", "rope_type": "llama3", "original_max_position_embeddings": 64, **LLAMA3},
    },
    "llama, llama3, old spelling": {
        "model_type": "llama", "rope_theta": 500000.0, "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "llama3", "original_max_position_embeddings": 8192, **LLAMA3},
    },
    "llama, llama3, new spelling": {
        "model_type": "llama", "max_position_embeddings": 131072,
        "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, "original_max_position_embeddings": 8192, **LLAMA3},
    },
    "llama, llama3 without the original context": {
        "model_type": "llama", "max_position_embeddings": 4096, "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, **LLAMA3},
    },
    "llama, theta beside rope_parameters": {
        "model_type": "llama", "rope_theta": 77000.0, "rope_parameters": {"rope_type": "linear", "factor": 2.0},
    },
    "llama, theta twice": {
        "model_type": "llama", "rope_theta": 77000.0, "rope_parameters": {"rope_type": "default", "rope_theta": 33000.0},
    },
    "llama, rope_scaling and rope_parameters": {
        "model_type": "llama", "rope_theta": 77000.0, "rope_parameters": {"rope_type": "default", "rope_theta": 33000.0},
        "rope_scaling": {"type": "linear", "factor": 2.0},
    },
    "llama, empty rope_scaling and rope_parameters": {
        "model_type": "llama", "rope_parameters": {"rope_type": "default", "rope_theta": 33000.0}, "rope_scaling": {},
    },
    "llama, default kind with a factor": {"model_type": "llama", "rope_scaling": {"rope_type": "default", "factor": 2.0}},
    "qwen2, only the shape": {"model_type": "qwen2", "num_attention_heads": 32, "hidden_size": 128},
    "qwen2, key/value heads by default": {"model_type": "qwen2", "num_attention_heads": 64, "hidden_size": 256},
    "qwen2, null key/value heads": {"model_type": "qwen2", "num_key_value_heads": None},
    "qwen2, head_dim": {"model_type": "qwen2", "num_key_value_heads": 2, "head_dim": 32},
    "qwen2, window switched off": {
        "model_type": "qwen2", "num_key_value_heads": 2, "use_sliding_window": False, "sliding_window": 16, "max_window_layers": 0,
    },
    "qwen2, window in no layer": {
        "model_type": "qwen2", "num_key_value_heads": 2, "use_sliding_window": True, "sliding_window": 16, "max_window_layers": 2,
    },
    "qwen2, window null": {
        "model_type": "qwen2", "num_key_value_heads": 2, "use_sliding_window": True, "sliding_window": None, "max_window_layers": 0,
    },
    "qwen3, only the shape": {"model_type": "qwen3", "num_attention_heads": 32, "hidden_size": 128},
    "qwen3, key/value heads by default": {"model_type": "qwen3", "num_attention_heads": 64, "hidden_size": 256},
    "qwen3, everything": {
        "model_type": "qwen3", "num_key_value_heads": 2, "head_dim": 32, "rope_theta": 1000000, "tie_word_embeddings": True,
        "attention_bias": False, "layer_types": ["full_attention", "full_attention"], "max_position_embeddings": 40960,
    },
}  # fmt: skip


def read(config: dict) -> list:
    c = CONFIG_MAPPING[config["model_type"]].from_dict(copy.deepcopy(config))
    rope = c.rope_parameters
    assert not any(t != "full_attention" for t in getattr(c, "layer_types", None) or [])
    kind = {"default": "none"}.get(rope["rope_type"], rope["rope_type"])
    llama3 = kind == "llama3"
    return [
        f"Architecture::{c.model_type}", c.num_hidden_layers, c.hidden_size, c.intermediate_size, c.num_attention_heads,
        c.num_key_value_heads, getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads, c.vocab_size,
        c.max_position_embeddings, f"{c.rms_norm_eps}f", str(c.tie_word_embeddings).lower(), f"{float(rope['rope_theta'])}f",
        f"RopeScaling::{kind}", f"{float(1 if kind == 'none' else rope['factor'])}f",
        f"{float(rope['low_freq_factor'] if llama3 else 1)}f", f"{float(rope['high_freq_factor'] if llama3 else 4)}f",
        rope["original_max_position_embeddings"] if llama3 else 0,
    ]  # fmt: skip


print(f"""// Configurations, and what Hugging Face transformers {transformers.__version__} reads from each.
// Written by data/make_config_cases.py.
#pragma once

#include "model_file/hyperparameters.h"

namespace rung::testing {{

struct ConfigCase {{
  const char* name;
  const char* config;
  Architecture architecture;
  int layers, hidden, feed_forward, heads, kv_heads, head_dim, vocabulary, context_length;
  float rms_epsilon;
  bool tied_embeddings;
  float rope_base;
  RopeScaling rope_scaling;
  float factor, low_frequency_factor, high_frequency_factor;
  int original_context_length;
}};

// clang-format off
constexpr ConfigCase kConfigCases[] = {{""")
for name, config in CASES.items():
    config = {**SHAPE, **config}
    print(f'{{"{name}", R"({json.dumps(config)})",', ", ".join(str(x) for x in read(config)) + "},")
print("};\n\n}  // namespace rung::testing")
