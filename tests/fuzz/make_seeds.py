"""Writes the seeds that fuzzing starts from: small files that are in order, made here or copied from tests/fixtures.

  python3 tests/fuzz/make_seeds.py FOLDER      FOLDER/TARGET/… for every target
"""

import json
import struct
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FAMILIES = ["llama-untied", "llama-rope3", "qwen2-bias", "qwen3", "llama-linear"]

# GGUF's value types by struct's letter, and what a block of each tensor type takes: elements, bytes.
SCALARS = {"B": 0, "b": 1, "H": 2, "h": 3, "I": 4, "i": 5, "f": 6, "?": 7, "Q": 10, "q": 11, "d": 12}
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 12: (256, 144), 13: (256, 176),
          14: (256, 210), 30: (1, 2)}


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    """A value with its type in front; kind is a letter of SCALARS, "s", or "[" and the kind of the elements."""
    if kind == "s":
        return struct.pack("<I", 8) + string(content)
    if kind.startswith("["):
        elements = [value(kind[1:], element) for element in content]
        inner = elements[0][:4] if elements else struct.pack("<I", 8)
        return struct.pack("<I", 9) + inner + struct.pack("<Q", len(content)) + b"".join(element[4:] for element in elements)
    return struct.pack("<I" + kind, SCALARS[kind], content)


def gguf(entries, tensors=(), version=3):
    """entries: (key, kind, content); tensors: (name, dimensions innermost first, type)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    for key, kind, content in entries:
        out += string(key) + value(kind, content)
    data = b""
    for name, dims, type_ in tensors:
        elements, size = BLOCKS[type_]
        out += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, type_, len(data))
        count = 1
        for dim in dims:
            count *= dim
        data += bytes(i * 7 % 64 for i in range(count // elements * size))
        data += bytes(-len(data) % 32)
    return out + bytes(-len(out) % 32) + data


def byte_letters():
    """The 256 bytes as GPT-2 spells them."""
    plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + others.index(b)) for b in range(256)]


def model(architecture):
    """The smallest model that Rung loads: one layer, 32 wide, a vocabulary of some bytes and three merges."""
    tokens = ["<|endoftext|>", "<|im_start|>", *"Ġthe.Ċ0é", "Ġt", "he", "Ġthe"]
    a = architecture
    entries = [
        ("general.architecture", "s", a), ("general.name", "s", "seed"), ("general.alignment", "I", 32),
        (f"{a}.block_count", "I", 1), (f"{a}.context_length", "I", 64), (f"{a}.embedding_length", "I", 32),
        (f"{a}.feed_forward_length", "I", 32), (f"{a}.attention.head_count", "I", 2), (f"{a}.attention.head_count_kv", "I", 1),
        (f"{a}.attention.key_length", "I", 16), (f"{a}.attention.value_length", "I", 16),
        (f"{a}.attention.layer_norm_rms_epsilon", "f", 1e-5), (f"{a}.rope.freq_base", "f", 1e4), (f"{a}.vocab_size", "I", len(tokens)),
        (f"{a}.rope.dimension_count", "I", 16),
        ("tokenizer.ggml.model", "s", "gpt2"), ("tokenizer.ggml.pre", "s", "qwen2" if a != "llama" else "smollm"),
        ("tokenizer.ggml.tokens", "[s", tokens), ("tokenizer.ggml.token_type", "[i", [3, 3] + [1] * (len(tokens) - 2)),
        ("tokenizer.ggml.merges", "[s", ["Ġ t", "h e", "Ġt he"]), ("tokenizer.ggml.bos_token_id", "I", 1),
        ("tokenizer.ggml.eos_token_id", "I", 0), ("tokenizer.ggml.add_bos_token", "?", False), ("tokenizer.chat_template", "s", "{{ x }}"),
    ]
    layer = [("attn_norm.weight", [32], 0), ("attn_q.weight", [32, 32], 8), ("attn_k.weight", [32, 16], 3), ("attn_v.weight", [32, 16], 2),
             ("attn_output.weight", [32, 32], 6), ("ffn_norm.weight", [32], 0), ("ffn_gate.weight", [32, 32], 7),
             ("ffn_up.weight", [32, 32], 1), ("ffn_down.weight", [32, 32], 30)]
    if a == "qwen2":
        layer += [("attn_q.bias", [32], 0), ("attn_k.bias", [16], 0), ("attn_v.bias", [16], 0)]
    if a == "qwen3":
        layer += [("attn_q_norm.weight", [16], 0), ("attn_k_norm.weight", [16], 0)]
    tensors = [("token_embd.weight", [32, len(tokens)], 8), ("output_norm.weight", [32], 0)]
    return gguf(entries, tensors + [("blk.0." + name, dims, type_) for name, dims, type_ in layer])


def every_type():
    entries = [(f"key.{letter}", letter, 1) for letter in SCALARS]
    entries += [(f"list.{letter}", "[" + letter, [1, 0, 1]) for letter in SCALARS]
    entries += [("text", "s", "é\n\"\\"), ("texts", "[s", ["a", ""]), ("none", "[s", []), ("nested", "[[[i", [[[1, 2], []], [[3]]])]
    return gguf(entries, [(f"t{type_}", [256, 2], type_) for type_ in BLOCKS])


def safetensors(tensors, metadata=None, padding=0):
    """tensors: (name, dtype, shape, bytes)."""
    header, at = {}, 0
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, size in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + bytes(i * 5 % 64 for i in range(at))


def tokenizer_json(fixture):
    """A fixture's tokenizer.json with a vocabulary of bytes and three merges, so that a mutation hits its structure."""
    tree = json.loads((FIXTURES / fixture / "tokenizer.json").read_text())
    tokens = [*byte_letters(), "Ġt", "he", "Ġthe"]
    special = tree.get("added_tokens", [])
    used = {token["id"] for token in special}
    ids = [i for i in range(512) if i not in used]
    tree["model"]["vocab"] = dict(zip(tokens, ids)) | {t["content"]: t["id"] for t in special if t["content"] in tree["model"]["vocab"]}
    merges = [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]
    paired = tree["model"]["merges"] and isinstance(tree["model"]["merges"][0], list)
    tree["model"]["merges"] = [list(pair) if paired else " ".join(pair) for pair in merges]
    return json.dumps(tree, ensure_ascii=False).encode()


def texts():
    prompts = ["The capital of France is", "  two  spaces\n\n\tand tabs\r\n", "naïve café e\u0301 ﬁ \u212b", "1234567 3.14 12,5", "don't we'LL I'm",
               "日本語のテキスト", "👩‍👩‍👧 🇩🇪", "<|im_start|>user\nHi<|im_end|>\n", "<|begin_of_text|>x<|eot_id|>", "a\u180eb\u00a0c\u2003d"]
    raw = [b"\xff\xfe", b"\xe2\x82", b"\xed\xa0\x80", b"\x00\x01 \x7f", b"\xf0\x9f\x91"]
    return [prompt.encode() for prompt in prompts] + raw


def conversations():
    turn = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHo"},
            {"role": "user", "content": " <tool_response>\nx</tool_response> "}, {"role": "assistant", "content": ""}]
    lists = [turn[:1], turn[1:2], turn[:3], turn, turn[1:4], [{"role": "tool", "content": "a"}]]
    return [json.dumps(one).encode() for one in lists] + [b"[]", b"{}", b'[{"role":"user","content":"\\u00e9\\ud83d\\ude00\\n"}]']


def seeds():
    """(target, name, bytes)."""
    for architecture in ("llama", "qwen2", "qwen3"):
        yield "gguf", f"{architecture}.gguf", model(architecture)
    yield "gguf", "types.gguf", every_type()
    yield "gguf", "empty-v2.gguf", gguf([], version=2)
    yield "safetensors", "one", safetensors([("a", "F32", [2, 3], 24)])
    yield "safetensors", "several", safetensors([("model.norm.weight", "BF16", [8], 16), ("x", "F16", [2, 2], 8), ("s", "F32", [], 4), ("n", "I64", [0, 4], 0)],
                                                {"format": "pt", "é": "\n"}, 5)
    for name in FAMILIES:
        whole = (FIXTURES / name / "model.safetensors").read_bytes()
        size = 8 + struct.unpack_from("<Q", whole)[0]
        yield "safetensors", name, whole[:size] + bytes(64)  # the data is missing
    for name, tensors in (("one", [("a", "F32", [2, 3], 24)]), ("two", [("ab", "BF16", [8], 16), ("model.layers.0.mlp.up_proj.weight", "F16", [2, 2], 8)])):
        yield "safetensors", f"{name}-header", safetensors(tensors, {"format": "pt"})[8:].split(b"}}")[0] + b"}}"
    for i, index in enumerate(({"x": "a.safetensors", "y": "b.safetensors"}, {"model.norm.weight": "a.safetensors"}, {"x": "b.safetensors"}, {})):
        yield "safetensors_index", str(i), json.dumps({"metadata": {"total_size": 16}, "weight_map": index}).encode()
    for path in sorted(FIXTURES.glob("*/config*.json")):
        yield "config", f"{path.parent.name}-{path.name}", path.read_bytes()
    for name in FAMILIES:
        yield "tokenizer_json", name, tokenizer_json(name)
    yield "tokenizer_json", "whole", (FIXTURES / "llama-untied" / "tokenizer.json").read_bytes()
    for i, text in enumerate(texts()):
        for family in range(10):
            yield "round_trip", f"{i}-{family}", bytes([family]) + text
    for i, conversation in enumerate(conversations()):
        yield "chat", str(i), conversation


def write_seeds(folder):
    for target, name, data in seeds():
        path = Path(folder) / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    write_seeds(sys.argv[1])
