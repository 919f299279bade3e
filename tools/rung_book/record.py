"""tools/book record: what the interactive pages play, from real runs of the engine and the default model."""

import json
import os
import subprocess
import sys
from pathlib import Path

from rung_tools.errors import ToolError

from .packages import installed

TEXT = "The cat that the dog chased up the old oak tree was sitting on"
HEADS = (0, 2, 4, 8)
COMPONENTS = 4  # of each value vector that the page shows

# A pool so small that requests must wait and lose their blocks.
SCHEDULER = ("./run.sh generate --prompts docs/play/scheduler.jsonl --record docs/play/scheduler.json --batch 4 --step-tokens 16 "
             "--block-size 4 --kv-memory 3 --ignore-eos --temperature 0 --device cpu").split()
TRACE = ["./run.sh", "trace", "attention", "--json", "--device", "cpu", "--text", TEXT]


def record(root, what):
    if what == "scheduler":
        if subprocess.run(SCHEDULER, cwd=root, stdout=subprocess.DEVNULL).returncode != 0:
            raise ToolError("the run that was to be recorded failed; its own message stands above")
        return
    build = Path(os.environ.get("RUNG_BUILD_DIR") or root / "build")
    sys.path.insert(0, str(installed(build, "record", Path(__file__).with_name("record_requirements.txt"))))
    done = subprocess.run(TRACE, cwd=root, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise ToolError("trace failed; its own message stands above")
    found = attention(root / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf", json.loads(done.stdout))
    (root / "docs" / "play" / "attention.json").write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


def attention(model, trace):
    """Scores and values of the last token's query in layer 0, computed in numpy from the model's weights.

    score_j = q · k_j / sqrt(head_dim). The softmax of the scores is compared with the weights that the engine's trace shows; a difference
    raises ToolError.
    """
    import gguf
    import numpy as np

    reader = gguf.GGUFReader(model)
    tensors = {t.name: t for t in reader.tensors if t.name == "token_embd.weight" or t.name.startswith("blk.0.attn")}
    weight = lambda name: gguf.quants.dequantize(tensors[name].data, tensors[name].tensor_type).astype(np.float64)
    field = lambda name: reader.fields[f"llama.{name}"].contents()
    heads, kv_heads = field("attention.head_count"), field("attention.head_count_kv")
    epsilon, base = field("attention.layer_norm_rms_epsilon"), field("rope.freq_base")

    x = weight("token_embd.weight")[trace["ids"]]
    x = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + epsilon) * weight("blk.0.attn_norm.weight").reshape(-1)
    q, k, v = (x @ weight(f"blk.0.attn_{name}.weight").T for name in "qkv")
    tokens, head_dim = len(x), q.shape[1] // heads

    def rope(rows, count):
        """GGUF's llama order: components 2i and 2i+1 turn together, by position · base^(−2i / head_dim)."""
        pairs = rows.reshape(tokens, count, head_dim // 2, 2)
        angle = np.arange(tokens)[:, None] * base ** (-2.0 * np.arange(head_dim // 2) / head_dim)
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        a, b = pairs[..., 0], pairs[..., 1]
        return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(tokens, count, head_dim)

    q, k, v = rope(q, heads), rope(k, kv_heads), v.reshape(tokens, kv_heads, head_dim)
    rows = next(view["rows"] for view in trace["views"] if view["name"] == "weights")
    out = []
    for head in range(heads):
        group = head // (heads // kv_heads)
        scores = k[:, group] @ q[-1, head] / np.sqrt(head_dim)
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        engine = [row["first"][head] for row in rows] if head < len(rows[0]["first"]) else weights
        worst = np.abs(weights - engine).max()
        if worst > 1e-4:
            raise ToolError(f"head {head}: the engine's weights differ from numpy's by {worst:.2e}")
        if head in HEADS:
            out.append({"head": head, "scores": [round(float(s), 6) for s in scores], "values": np.round(v[:, group, :COMPONENTS], 6).tolist()})
    return {"version": 1, "model": model.name, "text": TEXT, "layer": 0, "head_dim": head_dim, "pieces": trace["pieces"], "heads": out}
