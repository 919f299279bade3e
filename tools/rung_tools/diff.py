"""tools/stage diff: what one stage changed, file by file, as text or as a table."""

import difflib
from dataclasses import dataclass

from .chapter import OWN_FILES
from .cpp_source import kernels
from .errors import ToolError
from .line_counts import count_changes, is_binary, text_lines

CODE = (".cu", ".cuh", ".h", ".cpp")


@dataclass
class FileDiff:
    name: str
    old: bytes | None
    new: bytes | None

    @property
    def status(self):
        return "added" if self.old is None else "removed" if self.new is None else "changed"

    @property
    def binary(self):
        return is_binary(self.old or b"") or is_binary(self.new or b"")

    def counts(self):
        return (0, 0) if self.binary else count_changes(self.old, self.new)

    def new_kernels(self):
        """__global__ functions that the file has now and had not before."""
        if not self.name.endswith(CODE):
            return []
        names = lambda data: kernels(data.decode("utf-8", "replace")) if data else []
        old = names(self.old)
        return [k for k in names(self.new) if k not in old]

    def opcodes(self):
        old, new = text_lines(self.old or b""), text_lines(self.new or b"")
        return old, new, difflib.SequenceMatcher(None, old, new, autojunk=False)


def file_diffs(a, b, path=None):
    """Every file that differs between chapters a and b. `path` keeps one file or one folder; without it README.md and
    chapter.toml, which differ always, are left out."""
    prefix = path.strip("/") if path else None

    def chosen(name):
        return name not in OWN_FILES if prefix is None else name == prefix or name.startswith(prefix + "/")

    names = sorted(n for n in a.files.keys() | b.files.keys() if chosen(n))
    if prefix and not names:
        raise ToolError(f"neither {a.name} nor {b.name} has {path}")
    return [FileDiff(n, a.files.get(n), b.files.get(n)) for n in names if a.files.get(n) != b.files.get(n)]


_COLOURS = {"head": "\033[1m", "hunk": "\033[36m", "+": "\033[32m", "-": "\033[31m"}


def unified(a, b, diffs, colour=False):
    """The lines of a unified diff that patch -p1 understands."""
    paint = (lambda kind, line: f"{_COLOURS[kind]}{line}\033[0m" if kind in _COLOURS else line) if colour else (lambda _, line: line)
    for diff in diffs:
        old_name = f"{a.name}/{diff.name}" if diff.old is not None else "/dev/null"
        new_name = f"{b.name}/{diff.name}" if diff.new is not None else "/dev/null"
        if diff.binary:
            yield paint("head", f"Binary files {old_name} and {new_name} differ")
            continue
        old, new, _ = diff.opcodes()
        for i, line in enumerate(difflib.unified_diff(old, new, old_name, new_name, lineterm="")):
            kind = "head" if i < 2 else "hunk" if line.startswith("@@") else line[:1]
            yield paint(kind, line)


def stat_table(diffs, colour=False):
    """A table: file, status, lines added and removed, kernels added; the sums below it."""
    rows = []
    total_added = total_removed = 0
    all_kernels = []
    for diff in diffs:
        added, removed = diff.counts()
        total_added += added
        total_removed += removed
        new_kernels = diff.new_kernels()
        all_kernels += new_kernels
        rows.append((diff.name, diff.status, "binary" if diff.binary else f"+{added}", "" if diff.binary else f"-{removed}", ", ".join(new_kernels)))
    header = ("file", "", "added", "removed", "kernels added")
    widths = [max(len(r[i]) for r in rows + [header]) for i in range(4)]
    green, red, bold, off = ("\033[32m", "\033[31m", "\033[1m", "\033[0m") if colour else ("", "", "", "")

    def line(row, start="", plus="", minus=""):
        cells = (f"{row[0]:<{widths[0]}}", f"{row[1]:<{widths[1]}}", f"{plus}{row[2]:>{widths[2]}}{off if plus else ''}",
                 f"{minus}{row[3]:>{widths[3]}}{off if minus else ''}", row[4])
        return (start + "  ".join(cells).rstrip() + (off if start else "")).rstrip()

    yield line(header, start=bold)
    for row in rows:
        yield line(row, plus=green, minus=red)
    yield (f"{len(diffs)} file{'s' * (len(diffs) != 1)}, +{total_added} -{total_removed} lines, "
           f"{len(all_kernels)} kernel{'s' * (len(all_kernels) != 1)} added")
