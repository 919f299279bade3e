"""Exercises in the sources: the marked regions, a chapter with stubs in their place, and what of it is solution text."""

import re
from dataclasses import dataclass

from .chapter import CODE_SUFFIXES
from .errors import ToolError

_BEGIN = re.compile(r"^[ \t]*// BEGIN SOLUTION (\d\d\.\d+)[ \t]*$")
_END = re.compile(r"^[ \t]*// END SOLUTION[ \t]*$")
_STUB = re.compile(r"^([ \t]*)// STUB:(?: (.*))?$")
NOT_DONE_CALL = re.compile(r'\b(?:rung::)?(?:not_done|RUNG_NOT_DONE)\("(\d\d\.\d+)"\)')
NOT_DONE = re.compile(r"exercise (\d\d\.\d+) is not done yet")


@dataclass
class Region:
    """What stands between two markers: lines[first] is BEGIN, lines[last] is END."""
    task: str
    first: int
    last: int
    solution: list
    stub: list


def regions(text):
    """The marked regions of a file in order. Markers that do not match (a student deleted one) are passed over."""
    found = []
    task, first = None, 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        begin = _BEGIN.match(line)
        if begin:
            task, first = begin.group(1), number
        elif _END.match(line) and task:
            inside = lines[first + 1: number]
            stubs = [_STUB.match(l) for l in inside]
            found.append(Region(task, first, number, [l for l, s in zip(inside, stubs) if not s],
                                [s.group(1) + (s.group(2) or "") for s in stubs if s]))
            task = None
    return found


def replaced(text, replacements):
    """The text with the inside of regions replaced: {task: lines}, or {task: [lines of its first region, lines of the next …]}."""
    lines = text.split("\n")
    taken = {}
    changes = []
    for region in regions(text):
        if region.task in replacements:
            new = replacements[region.task]
            if new and isinstance(new[0], list):  # one for each region
                new = new[taken.setdefault(region.task, 0)]
                taken[region.task] += 1
            changes.append((region, new))
    for region, new in reversed(changes):
        lines[region.first + 1: region.last] = new
    return "\n".join(lines)


def stubbed(text, chosen):
    """The text with stubs in place of the solutions whose task `chosen` accepts."""
    lines = text.split("\n")
    for region in reversed(regions(text)):
        if chosen(region.task):
            lines[region.first + 1: region.last] = region.stub
    return "\n".join(lines)


def own(chapter):
    """Whether a task belongs to this chapter."""
    return lambda task: task.startswith(chapter.number + ".")


def exercises_of(chapter):
    return [e for e in chapter.toml.get("exercises", []) if isinstance(e, dict) and "id" in e]


def exercise(chapters, task):
    """(chapter, exercise) of a task such as 06.2."""
    if not re.fullmatch(r"\d\d\.\d+", task):
        raise ToolError(f"{task}: is no task; they are written like 06.2")
    for chapter in chapters:
        for one in exercises_of(chapter):
            if one["id"] == task:
                return chapter, one
    raise ToolError(f"there is no exercise {task}; tools/stage list shows the chapters that have some")


def task_regions(chapter, task):
    """[(file name, region)] of one task."""
    return [(name, region) for name in chapter.files if name.endswith(CODE_SUFFIXES)
            for region in regions(chapter.code(name)) if region.task == task]


def with_stubs(chapter, tasks):
    """Path -> bytes of the chapter with stubs for these tasks (a list, or a function that chooses them); all others stay solved."""
    chosen = tasks if callable(tasks) else lambda task: task in tasks
    files = dict(chapter.files)
    for name, data in files.items():
        if name.endswith(CODE_SUFFIXES) and b"BEGIN SOLUTION" in data:
            files[name] = stubbed(data.decode("utf-8"), chosen).encode("utf-8")
    return files


def skeleton(chapter):
    """Path -> bytes of the chapter with stubs for its own exercises, and a README without their solutions."""
    files = with_stubs(chapter, own(chapter))
    if "README.md" in files:
        files["README.md"] = without_solutions(files["README.md"].decode("utf-8"), chapter).encode("utf-8")
    return files


def _telling(line):
    """Whether a line says something: not a lone brace, `break;` or the like."""
    return len(line.strip()) >= 20 and len(re.findall(r"\w", line)) >= 10


def solution_lines(chapter):
    """Stripped line -> task, for the telling lines that stand in the chapter's own solutions and nowhere else in its code."""
    inside, outside = {}, set()
    for name in chapter.files:
        if not name.endswith(CODE_SUFFIXES):
            continue
        lines = chapter.code(name).split("\n")
        secret = set()
        for region in regions("\n".join(lines)):
            if own(chapter)(region.task):
                secret.update(range(region.first + 1, region.last))
                for line in region.solution:
                    inside.setdefault(line.strip(), region.task)
        outside.update(line.strip() for number, line in enumerate(lines) if number not in secret)
    return {line: task for line, task in inside.items() if _telling(line) and line not in outside}


_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_COG_COMMENT = re.compile(r"<!-- \[\[\[(?:cog\b.*?\]\]\]|end\]\]\]) -->\n?", re.DOTALL)
_SOURCE_LINE = re.compile(r"\*\[(\S+?)\]\(\1#L\d+(?:-L\d+)?\), lines? \d+(?:–\d+)?\*")


def without_solutions(readme, chapter):
    """The README with solutions taken out of its excerpts, without cog's comments, and without lines' numbers, which stubs move."""
    texts = {}
    for name in chapter.files:
        if name.endswith(CODE_SUFFIXES):
            for region in regions(chapter.code(name)):
                if own(chapter)(region.task):
                    texts.setdefault(region.task, set()).update(line.strip() for line in region.solution)
    secret = solution_lines(chapter)

    def cut(match):
        lines = match.group(2).split("\n")
        out, at = [], 0
        while at < len(lines):
            task = secret.get(lines[at].strip())
            if task is None:
                out.append(lines[at])
                at += 1
                continue
            end = at + 1
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            while end < len(lines) and lines[end].strip() in texts[task] and (
                    lines[end].startswith((indent, "#")) or not lines[end].strip()):
                end += 1
            while lines[end - 1].strip() == "":
                end -= 1
            while out and out[-1].strip() in texts[task] and out[-1].strip() not in ("", "{"):
                out.pop()
            note = indent + f"// exercise {task}: yours to write"
            if note.strip() not in (line.strip() for line in out):
                out.append(note)
            at = end
        return match.group(0).replace(match.group(2), "\n".join(out), 1) if out != lines else match.group(0)

    readme = _FENCE.sub(cut, _COG_COMMENT.sub("", readme))
    return _SOURCE_LINE.sub(r"*[\1](\1)*", readme)
