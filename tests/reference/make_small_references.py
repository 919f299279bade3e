#!/usr/bin/env python3
"""Writes small.json: Unicode normalization by Python's unicodedata, and added tokens with flags by Hugging Face `tokenizers`.

  python tests/reference/make_small_references.py        (needs the package tokenizers; runs in seconds)
"""

import json
import random
import sys
import unicodedata
from pathlib import Path

from tokenizers import AddedToken, Tokenizer

ROOT = Path(__file__).resolve().parents[2]


def normalization():
    """Every character that decomposes, ten together with marks between them, and random runs of what combines."""
    characters = [chr(c) for c in range(sys.maxunicode) if unicodedata.decomposition(chr(c)) and "<" not in unicodedata.decomposition(chr(c))]
    marks = [chr(c) for c in range(sys.maxunicode) if unicodedata.combining(chr(c))]
    source = random.Random(7)
    texts = ["".join(c + source.choice(["", "x", source.choice(marks)]) for c in characters[i:i + 10]) for i in range(0, len(characters), 10)]
    parts = characters + marks + [chr(c) for c in range(0x1100, 0x1200)] + [chr(c) for c in range(0xAC00, 0xAC00 + 600, 7)] + list("aeioucnq")
    parts += [part for c in characters for part in unicodedata.normalize("NFD", c)]
    texts += ["".join(source.choice(parts) for _ in range(source.randint(2, 12))) for _ in range(300)]
    return [[text, unicodedata.normalize("NFC", text)] for text in texts]


def added_tokens():
    tokenizer = Tokenizer.from_file(str(ROOT / "tests/fixtures/qwen2-bias/tokenizer.json"))
    tokenizer.add_tokens([
        AddedToken("[LEFT]", lstrip=True, normalized=False),
        AddedToken("[RIGHT]", rstrip=True, normalized=False),
        AddedToken("[BOTH]", lstrip=True, rstrip=True, normalized=False),
        AddedToken("word", single_word=True, normalized=False),
        AddedToken("caf\u00e9", normalized=True),
        AddedToken("n\u0303o", normalized=True),
        AddedToken("abc", normalized=False),
        AddedToken("abcdef", normalized=False),
        AddedToken("bcdefgh", normalized=False),
        AddedToken("tree trunk", normalized=True, single_word=True, lstrip=True),
    ])
    texts = [
        "a [LEFT] b", "a  \n[LEFT]b", "[LEFT] [LEFT]  [LEFT]", "a [RIGHT] b", "a[RIGHT] \t\n b", "[RIGHT] [RIGHT]", "x [BOTH] y", " [BOTH] [LEFT] [RIGHT] z",
        "[RIGHT]  [LEFT]", "\u3000[LEFT]\u3000[RIGHT]\u3000x", "\u180e[LEFT]\u180e", "word", "a word b", "sword words word-word word_ _word 1word word1", "word.word,word",
        "\u00e9word word\u00e9 word\u0301 \u2014word\u2014", "wordword word", "caf\u00e9 cafe\u0301 cafe", "n\u0303o \u00f1o no", "abcdefgh", "abcdef", "abcde", "ab abc", "xbcdefgh abcbcdefgh",
        "tree trunk", "  tree trunk ", "street trunk", "a tree trunks", "a  tree trunk tree trunk", "<|im_end|>[LEFT] <|im_end|>", "e\u0301[LEFT]e\u0301", "\U0001d7d9word word\u00b2 word\u2160",
    ]
    return {"tokenizer": json.loads(tokenizer.to_str()),
            "cases": [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts]}


def main():
    result = {"about": "Written by make_small_references.py.", "unicode": unicodedata.unidata_version,
              "nfc": normalization(), "added": added_tokens()}
    with open(Path(__file__).with_name("small.json"), "w") as out:
        json.dump(result, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
