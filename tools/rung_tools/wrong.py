"""Known-wrong solutions: tests/wrong/NN.k/*.cpp or *.cu, each a text that replaces the task's marked region.

Its first line says what is wrong, `// Wrong: …`; its second a text that must stand in the message which the student then gets, `// Expect: …`.
Where a task has several regions a third line says which of them is replaced, `// Region: 2`; the others stay solved.
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
    region: int  # counted from 1, in the order of the files
    lines: list


def wrong_solutions(root, task):
    found = []
    for path in sorted((root / "tests" / "wrong" / task).glob("*.c*")):
        name = f"{task}/{path.stem}"
        head = {}
        lines = path.read_text("utf-8").rstrip("\n").split("\n")
        while lines and (said := re.fullmatch(r"// (Wrong|Expect|Region): (.+)", lines[0])):
            head[said.group(1)] = said.group(2).strip()
            lines.pop(0)
        if "Wrong" not in head or "Expect" not in head:
            raise ToolError(f"tests/wrong/{name}: begins with lines '// Wrong: …' and '// Expect: …'")
        found.append(Wrong(task, name, head["Wrong"], head["Expect"], int(head.get("Region", "1")), lines))
    return found


def applied(chapter, wrong):
    """The chapter's files with this wrong solution in place of the right one."""
    places = task_regions(chapter, wrong.task)
    if wrong.region > len(places):
        raise ToolError(f"tests/wrong/{wrong.name}: {wrong.task} has {len(places)} regions, there is no region {wrong.region}")
    name, region = places[wrong.region - 1]
    if [l.strip() for l in region.solution] == [l.strip() for l in wrong.lines]:
        raise ToolError(f"tests/wrong/{wrong.name}: is the right solution")
    inside = [wrong.lines if r is region else r.solution for n, r in places if n == name]
    files = dict(chapter.files)
    files[name] = replaced(files[name].decode("utf-8"), {wrong.task: inside}).encode("utf-8")
    return files
