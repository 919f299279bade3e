#!/usr/bin/env python3
"""Writes tokenizer.json: token ids that Hugging Face `tokenizers` gives for odd strings, with four real vocabularies.

  tests/reference/fetch_vocabularies.py
  python tests/reference/make_tokenizer_references.py        (needs the packages tokenizers and gguf)

Each tokenizer is built from the vocabulary in a GGUF file: the default model's for smollm, and three of those that
fetch_vocabularies.py gets. transformers' own conversion of GGUF files is not used, because it cuts SmolLM2's text into other words.
"""

import json
import random
import sys
from pathlib import Path

import gguf
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/fixtures"))
from fixture_text import CORPUS, ODD_STRINGS, UNNORMALIZED_STRINGS  # noqa: E402
from fixture_tokenizers import LLAMA3_PATTERN, QWEN2_PATTERN  # noqa: E402

FILES = {
    "smollm": "models/SmolLM2-135M-Instruct.Q4_1.gguf",
    "gpt-2": "models/vocabularies/ggml-vocab-gpt-2.gguf",
    "qwen2": "models/vocabularies/ggml-vocab-qwen2.gguf",
    "llama-bpe": "models/vocabularies/ggml-vocab-llama-bpe.gguf",
}

MORE_STRINGS = [
    "\u0000", "\u0001\u0002\u0003\u0004\u0005\u0006", "\u007f\u0080\u009f",  # SmolLM2 has no token for some of these
    "\U000fffff \U00050000", "\u0378", "\ud7ff\ue000",
    "'ſ 'ſt I'ſ", "'\u212a", "K\u212a\u00e5\u212b",  # long s, Kelvin: other cases of s and k
    "I'LL we'D you'Re 'VE 'Mx", "''s", "x's'm'll", "’s ’t", "'", "''", " '", "'S'S",
    "\u1680\u2000\u2001\u2028\u2029\u202f\u205f\u3000", "a\u1680b \u2028 c", "\u0085\u0085x", "\u180e", " \u180e ", "\u180e\n", "x\u180e1",
    "\u180e\u180ex", "\u200b \u200b", "\u2060\u2060", "\u00ad soft", "a\u0300\u0301b", "\u0300a", "  \u0300", "\u20dd1\u20dd",
    "1\u0661\u0662\u0663\u0664 5", "\u2160\u2161\u2162\u216b", "x\u00b2\u00b3y", "\u0bf0\u0bf1", "\U0001d7ce\U0001d7cf\U0001d7d0\U0001d7d1", "12\u00bd3",
    "123456789 1 22 333 4444", "1,234,567.89", "007", "0x1F600", "1e10 2E-5", "v1.2.3-rc4",
    " \n", "\n ", "  \n  \n  ", "\n\n\n\n\n", "\r\r\n\n\r", "\t\t x\t", "a \n b", "a  \n\n  b", " \t\n\u000b\u000c\r", "x   ", "   x", "   \n   x",
    "a\n\n\n b", "!\n\n\n", "?!\r\n\r\n\r\nx", "...\n...", "$$$\n", "/*\n * x\n */",
    "hello" + " " * 100 + "world", "\n" * 50, " " * 257 + "x", "ab" * 200, "z" * 300, "-" * 129, "=" * 64, "\u4e2d" * 65, "\U0001f600" * 20,
    "The quick brown fox jumps over the lazy dog.", "THE QUICK BROWN FOX", "tHe QuIcK",
    "def f(x):\n    return x ** 2  # square\n", "for (;;) { ++i; }\n\n\treturn 0;", "<html><body class=\"a\">&amp;</body></html>",
    "SELECT * FROM t WHERE a='b' AND c<>1;", "http://user:pw@host:8080/p?q=1&r=%20#f", "C:\\Users\\x\\y.txt", "~/.bashrc && rm -rf /",
    "\u00c0\u00c9\u00ce\u00d5\u00dc \u00df\u1e9e \u0130\u0131", "\ufb01\ufb02 \ufb00", "\u01c4\u01c5\u01c6", "\u0149", "\u1fb3\u0345", "\u03a3\u03c3\u03c2",
    "na\u00efve caf\u00e9s \u2014 \u201cquoted\u201d \u2018x\u2019 \u2026", "\u00a1\u00bf\u00a7\u00b6\u2020\u2021", "\u20ac100 \u00a350 \u00a5", "\u2260\u2264\u2265\u2211\u222b\u221e", "\u2190\u2191\u2192\u2193",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e", "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u4f60\u597d\u4e16\u754c\uff01\uff11\uff12\uff13",
    "\ud55c\uad6d\uc5b4 \uc548\ub155\ud558\uc138\uc694", "\u1112\u1161\u11ab", "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0", "\u13a3\u13b3\u13a9", "\U00010330\U00010331", "\U00020000\U0002a6d6", "\u16a0\u16a1",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "\U0001f44d\U0001f3fd", "1\ufe0f\u20e3", "\u2764\ufe0f\u200d\U0001f525",
    "<|im_start|>", "<|im_end|><|im_end|>", " <|im_end|> ", "<|im_end|>\n", "a<|endoftext|>b", "<|endoftext|", "|endoftext|>", "<|<|im_end|>|>",
    "<|begin_of_text|>x", "<|begin_of_text|><|begin_of_text|>x", "<|eot_id|>", "<|reserved_special_token_1|><|reserved_special_token_10|>",
    "<repo_name>a<reponame>b", "[PAD151646] [PAD151647]", "<|IM_START|>", "<|im_start|>system\nYou are\n<|im_end|>\n",
    "e\u0301\u0327 e\u0327\u0301", "\u0344 \u0958 \u2126 \ufb1d", "\U0001d15e \u2adc", "q\u0307\u0323", "\u1e9b\u0323", "\u0958\u0915\u093c",
    "\u1100\u1161\u11a8 \uac00\u11a8 \uac01\u11a8 \u1100\u1161", "\u0cc6\u0cc2\u0cd5 \u0dd9\u0dcf\u0dca", "\u3053\u3099\u304b\u3099",
]


def random_strings(count):
    source = random.Random(20261130)
    alphabets = [
        " \n\t\r", "abcde ABC'", "0123456789", ".,;:!?-_()[]{}", "äöüßéèñ", "日本語中文한국", "привет мир", "\u0300\u0301\u0327",
        "\u180e\u200b\u00a0\u3000\u2028", "😀🚀👍🏽", "'s'S'll'Re", "½²Ⅷ٣", CORPUS[:400],
    ]
    for _ in range(count):
        yield "".join(source.choice(source.choice(alphabets)) for _ in range(source.randint(3, 60)))


def byte_level(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])


def build(name, path, with_added):
    reader = gguf.GGUFReader(path)
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    types = reader.fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in reader.fields["tokenizer.ggml.merges"].contents()]
    normal = {token: i for i, token in enumerate(tokens) if types[i] == 1}
    if with_added:
        normal = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=normal, merges=merges, ignore_merges=name == "llama-bpe"))
    if name == "smollm":
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    elif name == "gpt-2":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = byte_level(QWEN2_PATTERN if name == "qwen2" else LLAMA3_PATTERN)
    if name == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    if with_added:
        special = [AddedToken(tokens[i], special=True, normalized=False) for i in range(len(tokens)) if types[i] == 3]
        added = [AddedToken(tokens[i], special=False, normalized=False) for i in range(len(tokens)) if types[i] == 4]
        tokenizer.add_special_tokens(special)
        tokenizer.add_tokens(added)
        assert tokenizer.get_vocab_size() == len(tokens), name
    return tokenizer


def main():
    strings = []
    for text in ODD_STRINGS + UNNORMALIZED_STRINGS + MORE_STRINGS + list(random_strings(60)):
        if text not in strings:
            strings.append(text)
    result = {
        "about": "Token ids by Hugging Face tokenizers; written by make_tokenizer_references.py. "
                 "ids: special tokens recognised; plain: taken for text. No BOS.",
        "made_with": {"tokenizers": tokenizers.__version__},
        "texts": strings,
        "vocabularies": {},
    }
    for name, file in FILES.items():
        recognising, plain = build(name, ROOT / file, True), build(name, ROOT / file, False)
        result["vocabularies"][name] = {
            "file": file,
            "ids": [recognising.encode(text, add_special_tokens=False).ids for text in strings],
            "plain": [plain.encode(text, add_special_tokens=False).ids for text in strings],
        }
    with open(Path(__file__).with_name("tokenizer.json"), "w") as out:
        json.dump(result, out, separators=(",", ":"))
        out.write("\n")
    print(len(strings), "texts")


if __name__ == "__main__":
    main()
