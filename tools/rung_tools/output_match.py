"""Comparing the output that a README quotes with the one a command prints."""

import re

ELLIPSES = ("…", "...")

# Rates first: their slash would look like a path's.
_RATE = re.compile(r"\b(?:[kKMGT]?i?B|[KMGT]?FLOPs?|tok|tokens)/s\b")
_UNIT = r"(?:ns|us|µs|μs|ms|s|min|h|[kKMGT]?i?B|[KMGT]?FLOPS?|%|[kMG]?Hz|x|×|per-second)"
_PATH = re.compile(r"(?<![\w/])(?:~|\.{1,2})?(?:/?[\w.+~-]+)?(?:/[\w.+~-]+)+/?")
_HEX = re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b")
_NUMBER = re.compile(r"[-+−]?(?<![\w.])\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:[ \t]*" + _UNIT + r"(?!\w))?")


def is_ellipsis(line):
    return line.strip() in ELLIPSES


def mask(line):
    """The form of a line: numbers with their units, paths and hashes are all alike, spaces count once."""
    line = _RATE.sub("per-second", line)
    line = _HEX.sub("#", line)
    line = _PATH.sub("<path>", line)
    line = _NUMBER.sub("#", line)
    return re.sub(r"\s+", " ", line).strip()


def _same_line(expected, real, recorded):
    if not recorded:
        return expected.rstrip() == real.rstrip()
    if "…" in expected:
        pattern = ".*".join(re.escape(mask(part)) for part in expected.split("…"))
        return re.fullmatch(pattern.replace(r"\ ", " ?"), mask(real)) is not None
    return mask(expected) == mask(real)


def trim(lines):
    """Without blanks at the ends of lines and without blank lines at the end."""
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def matches(expected, real, recorded=False):
    """Whether the quoted lines stand for the real ones; a line … stands for any run of lines."""
    expected, real = trim(expected), trim(real)
    # reachable: how many real lines the quoted ones so far can stand for
    reachable = {0}
    for line in expected:
        if is_ellipsis(line):
            reachable = set(range(min(reachable), len(real) + 1)) if reachable else set()
        else:
            reachable = {i + 1 for i in reachable if i < len(real) and _same_line(line, real[i], recorded)}
    return len(real) in reachable


def rewritten(expected, real):
    """The real output, cut with … where the quoted one was; None when the cuts cannot be placed."""
    expected, real = trim(expected), trim(real)
    cuts = [i for i, line in enumerate(expected) if is_ellipsis(line)]
    if not cuts:
        return real
    head, tail = cuts[0], len(expected) - cuts[-1] - 1
    if head + tail >= len(real):
        return real
    result = real[:head]
    position = head
    for cut, following in zip(cuts, cuts[1:]):
        piece = expected[cut + 1: following]
        last_start = len(real) - tail - len(piece)
        at = next((i for i in range(position, last_start + 1) if piece and mask(real[i]) == mask(piece[0])), None)
        if at is None:
            return None
        result += [expected[cut]] + real[at: at + len(piece)]
        position = at + len(piece)
    return result + [expected[cuts[-1]]] + (real[len(real) - tail:] if tail else [])
