"""Known-wrong solutions: tests/wrong/NN.k/*.cpp or *.cu, each a text that replaces the task's marked region.

Its first line says what is wrong, `// Wrong: …`; its second a text that must stand in the message which the student then gets, `// Expect: …`.
A task with several regions names the file of the one that is replaced in a third line, `// File: src/…`; the others stay solved.
"""

import re
from dataclasses import dataclass

from .errors import ToolError
from .exercises import replaced, task_regions


@dataclass
class Wrong:
    task: str
    name: str  # 06.1/no-barrier
    what: str
    expect: str
    file: str | None
    lines: list


def wrong_solutions(root, task):
    found = []
    for path in sorted((root / "tests" / "wrong" / task).glob("*.c*")):
        name = f"{task}/{path.stem}"
        head = {}
        lines = path.read_text("utf-8").rstrip("\n").split("\n")
        while lines and (said := re.fullmatch(r"// (Wrong|Expect|File): (.+)", lines[0])):
            head[said.group(1)] = said.group(2).strip()
            lines.pop(0)
        if "Wrong" not in head or "Expect" not in head:
            raise ToolError(f"tests/wrong/{name}: begins with lines '// Wrong: …' and '// Expect: …'")
        found.append(Wrong(task, name, head["Wrong"], head["Expect"], head.get("File"), lines))
    return found


def applied(chapter, wrong):
    """The chapter's files with this wrong solution in place of the right one."""
    places = task_regions(chapter, wrong.task)
    chosen = [(n, r) for n, r in places if wrong.file in (None, n)]
    if len(chosen) != 1:
        raise ToolError(f"tests/wrong/{wrong.name}: {wrong.task} has {len(places)} regions; a line '// File: src/…' must name the one that is replaced")
    name, region = chosen[0]
    if [l.strip() for l in region.solution] == [l.strip() for l in wrong.lines]:
        raise ToolError(f"tests/wrong/{wrong.name}: is the right solution")
    files = dict(chapter.files)
    files[name] = replaced(files[name].decode("utf-8"), {wrong.task: wrong.lines}).encode("utf-8")
    return files
