"""```console blocks of a README: commands with the output that the text shows for them."""

import re
from dataclasses import dataclass, field

_FENCE = re.compile(r"^(`{3,})console[ \t]*$")
_RECORDED = re.compile(r"^[ \t]*<!--[ \t]*recorded\b.*-->[ \t]*$")
_NOT_RERUN = re.compile(r"^[ \t]*<!--[ \t]*not rerun\b.*-->[ \t]*$")
_RERUN = re.compile(r"^(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\./run\.sh|(?:\./)?tools/\w)")


@dataclass
class Quoted:
    command: str
    line: int  # of the "$ " line, from 0
    first: int  # output: lines[first:last]
    last: int
    recorded: bool
    left_alone: bool
    output: list = field(default_factory=list)

    @property
    def rerun(self):
        return not self.left_alone and bool(_RERUN.match(self.command))


def quoted_commands(text):
    """Every command quoted in the README, in order. Fences inside longer fences and HTML comments are left out."""
    lines = text.split("\n")
    found = []
    i = 0
    while i < len(lines):
        other = re.match(r"^(`{3,}|~{3,})", lines[i])
        fence = _FENCE.match(lines[i])
        if not other:
            i += 1
            continue
        close = re.compile(rf"^{re.escape(other.group(1))}[`~]*[ \t]*$")
        end = next((j for j in range(i + 1, len(lines)) if close.match(lines[j])), len(lines))
        if fence:
            above = lines[i - 1] if i else ""
            recorded, left_alone = bool(_RECORDED.match(above)), bool(_NOT_RERUN.match(above))
            found += _commands(lines, i + 1, end, recorded, left_alone)
        i = end + 1
    return found


def _commands(lines, start, end, recorded, left_alone):
    found = []
    j = start
    while j < end:
        if not lines[j].startswith("$ "):
            j += 1
            continue
        line = j
        command = lines[j][2:]
        while command.endswith("\\") and j + 1 < end:
            j += 1
            command += "\n" + lines[j]
        first = j + 1
        j = first
        while j < end and not lines[j].startswith("$ "):
            j += 1
        found.append(Quoted(command, line, first, j, recorded, left_alone, lines[first:j]))
    return found
