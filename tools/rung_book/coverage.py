"""tools/book check: every place that a chapter changes is shown in its text, or chapter.toml says why not."""

import fnmatch
import re
from dataclasses import dataclass, field

from rung_tools.chapter import difference, previous_chapter
from rung_tools.cpp_source import MARKER_LINE, find_functions, find_types
from rung_tools.diff import FileDiff
from rung_tools.errors import ToolError

_EXCERPT = re.compile(r"^\*\[(\S+?)\]\(\S+?\), lines? (\d+)(?:–(\d+))?\*$", re.MULTILINE)
_FORM = ('chapter.toml: each entry of not_shown is { files = ["src/…"], why = "…" }, with functions = ["…"] or lines = "a regular expression" where it '
         "means part of a file")


@dataclass
class Hunk:
    """Lines [first, last) of the new file, from 0 (none where lines were only removed), and the text of all lines added and removed."""
    first: int
    last: int
    lines: list


@dataclass
class NotShown:
    """One file pattern of an entry of not_shown, for a whole file or for some functions or lines of it."""
    pattern: str
    function: str | None
    lines: re.Pattern | None
    used: bool = field(default=False)

    def covers(self, name, text, hunk):
        if not fnmatch.fnmatchcase(name, self.pattern):
            return False
        if self.lines:
            return any(self.lines.search(line) for line in hunk.lines)
        if self.function:
            places = find_functions(text, self.function) + find_types(text, self.function)
            return any(hunk.first <= last and _with_comment(text, first) < max(hunk.last, hunk.first + 1) for first, last in places)
        return True

    def __str__(self):
        return self.pattern + (f", function {self.function}" if self.function else f", lines {self.lines.pattern}" if self.lines else "")


def _with_comment(text, line):
    """The first line of the comment that stands directly above a line, or that line."""
    lines = text.split("\n")
    while line > 0 and lines[line - 1].lstrip().startswith("//"):
        line -= 1
    return line


def excerpts(chapter):
    """Path -> (first, last) lines, from 0 and without the last, of each excerpt in the chapter's README."""
    found = {}
    text = chapter.code("README.md") if "README.md" in chapter.files else ""
    for path, first, last in _EXCERPT.findall(text):
        found.setdefault(path, []).append((int(first) - 1, int(last or first)))
    return found


def _texts(value):
    return isinstance(value, list) and value and all(isinstance(v, str) and v for v in value)


def _not_shown(chapter, errors):
    """What chapter.toml's not_shown means, one NotShown for each file pattern and function."""
    found = []
    for entry in chapter.toml.get("not_shown", []):
        known = isinstance(entry, dict) and entry.keys() <= {"files", "functions", "lines", "why"} and not {"functions", "lines"} <= entry.keys()
        why = entry.get("why") if known else None
        if (not known or not _texts(entry.get("files")) or not isinstance(why, str) or not why.strip()
                or ("functions" in entry and not _texts(entry["functions"])) or not isinstance(entry.get("lines", ""), str)):
            errors.append(_FORM)
            continue
        try:
            lines = re.compile(entry["lines"]) if entry.get("lines") else None
        except re.error as error:
            errors.append(f"chapter.toml: not_shown: lines {entry['lines']!r} is no regular expression: {error}")
            continue
        found += [NotShown(pattern, function, lines) for pattern in entry["files"] for function in entry.get("functions", [None])]
    return found


def _substance(lines):
    """What is left of lines without blank ones, #include, exercise markers, and spaces: how code is laid out is nothing to show."""
    return "".join(re.sub(r"\s+", "", line) for line in lines if not line.lstrip().startswith("#include") and not MARKER_LINE.match(line))


def _head(lines):
    """How many lines the comment has that opens a file; its first sentence stands in the table of files."""
    return next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))


def hunks(before, chapter, name):
    """Every changed place of a file. Runs of changes in one function with nothing but blank lines and brackets between them are one place; one that
    differs only in blank lines, spaces, line breaks, #include, exercise markers or the comment that opens the file is none."""
    diff = FileDiff(name, before.files.get(name) if before else None, chapter.files[name])
    if diff.binary:
        return [Hunk(0, 1, [])]
    old, new, matcher = diff.opcodes()
    runs = []
    for tag, i0, i1, j0, j1 in matcher.get_opcodes():
        if tag == "equal" or (i1 <= _head(old) and j1 <= _head(new)):
            continue
        if runs and not any(re.search(r"\w|^\}", line) for line in new[runs[-1][3]: j0]):
            runs[-1] = (runs[-1][0], i1, runs[-1][2], j1)
        else:
            runs.append((i0, i1, j0, j1))
    return [Hunk(j0, j1, old[i0:i1] + new[j0:j1]) for i0, i1, j0, j1 in runs if _substance(old[i0:i1]) != _substance(new[j0:j1])]


def _where(hunk):
    line = next((l.strip() for l in hunk.lines if len(re.findall(r"\w", l)) > 2), "")
    place = f"line {hunk.first + 1}" if hunk.last - hunk.first <= 1 else f"lines {hunk.first + 1}–{hunk.last}"
    return (f"changed at {place}" if hunk.last > hunk.first else f"removed before {place}") + (f" ({line})" if line else "")


def check_chapter(chapters, chapter):
    """(errors, changed places shown, changed places) of one chapter. An added file counts as one place."""
    errors = []
    before = previous_chapter(chapters, chapter)
    real = difference(before, chapter)
    shown_lines = excerpts(chapter)
    listed = _not_shown(chapter, errors)
    shown = total = 0
    for name in real["adds"] + real["changes"]:
        text = chapter.code(name)
        new = name in real["adds"]
        places = [Hunk(0, max(1, text.count("\n")), text.split("\n"))] if new else hunks(before, chapter, name)
        total += len(places)
        for hunk in places:
            if any(first < max(hunk.last, hunk.first + 1) and hunk.first < last for first, last in shown_lines.get(name, [])):
                shown += 1
                continue
            matching = [entry for entry in listed if _covers(entry, name, text, hunk)]
            for entry in matching:
                entry.used = True
            if not matching:
                errors.append(f"{name}: {'added' if new else _where(hunk)}: no excerpt shows it and not_shown does not list it")
    errors += [f"chapter.toml: not_shown lists {entry}, which matches nothing that is added or changed and not shown"
               for entry in listed if not entry.used]
    return errors, shown, total


def _covers(entry, name, text, hunk):
    try:
        return entry.covers(name, text, hunk)
    except ToolError:  # brackets that do not match
        return False
