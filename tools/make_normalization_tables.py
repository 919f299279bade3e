#!/usr/bin/env python3
"""Writes src/tokenizer/normalization_data.cpp from Python's own copy of the Unicode Character Database.

  tools/make_normalization_tables.py > chapters/04-tokenizer/src/tokenizer/normalization_data.cpp
"""

import sys
import unicodedata

HANGUL = range(0xAC00, 0xD7A4)  # taken apart and put together by arithmetic


def rows(cells, per_row):
    for i in range(0, len(cells), per_row):
        yield "    " + " ".join(f"{cell}," for cell in cells[i:i + per_row])


def main():
    decompositions, classes = [], []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000 or code in HANGUL:
            continue
        character = chr(code)
        mapping = unicodedata.decomposition(character)
        if mapping and not mapping.startswith("<"):
            parts = [int(part, 16) for part in mapping.split()]
            first, second = parts[0], parts[1] if len(parts) > 1 else 0
            # Some pairs never compose again; normalizing the two parts tells.
            composes = len(parts) == 2 and unicodedata.normalize("NFC", "".join(map(chr, parts))) == character
            decompositions.append(f"{{{code:#x}, {first:#x}, {second:#x}, {int(composes)}}}")
        combining = unicodedata.combining(character)
        if combining:
            if classes and classes[-1][1] == code - 1 and classes[-1][2] == combining:
                classes[-1][1] = code
            else:
                classes.append([code, code, combining])
    ranges = [f"{{{first:#x}, {last:#x}, {value}}}" for first, last, value in classes]
    print(f"""\
// Canonical decompositions and combining classes of Unicode {unicodedata.unidata_version}, without Hangul syllables.
// Written by tools/make_normalization_tables.py.
// clang-format off
#include "tokenizer/normalization_data.h"

namespace rung {{

const Decomposition kDecompositions[] = {{
{chr(10).join(rows(decompositions, 4))}
}};
const size_t kDecompositionCount = sizeof kDecompositions / sizeof *kDecompositions;

const CombiningRange kCombiningRanges[] = {{
{chr(10).join(rows(ranges, 5))}
}};
const size_t kCombiningRangeCount = sizeof kCombiningRanges / sizeof *kCombiningRanges;

}}  // namespace rung""")


if __name__ == "__main__":
    main()
