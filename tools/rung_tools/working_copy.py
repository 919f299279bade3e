"""Working copies for students: tools/stage start, reset, hint, solution and export."""

import difflib
import json
import os
import re
import shutil
import time
import zipfile
from pathlib import Path

from .chapter import CODE_SUFFIXES, STUDENT_FOLDERS, Chapter, chapters_of, find_chapter, previous_chapter
from .errors import ToolError
from .exercises import NOT_DONE_CALL, exercise, exercises_of, own, regions, replaced, skeleton, stubbed, task_regions
from .repository import Repository

MARK = "working-copy.json"

# What a chapter needs to build and test: files, and folders with the endings that are taken along.
_FILES = (".clang-format", ".gitignore", "run.sh", "test.sh", "docs/emulator.md", "tools/setup.sh", "tools/rung_build.py", "tools/test_suite.py",
          "tools/stage", "tools/grade")
_FOLDERS = (("common", ("",)), ("tests/fixtures", (".f32", ".u32", ".u16", ".f16", ".gguf", ".json", ".safetensors", ".bin")),
            ("tests/reference", (".json",)), ("tools/rung_tools", (".py",)))
_LEFT_OUT = ("common/tests/", "common/simt/tests/")


def is_working_copy(root):
    return (Path(root) / MARK).is_file()


def _require_repository(root, what):
    if is_working_copy(root):
        raise ToolError(f"{what} needs the whole repository; {root} is a working copy of one chapter")


def _executable(path):
    return path in ("run.sh", "test.sh", "tools/stage", "tools/grade")


def surroundings(root):
    """Path -> bytes of what stands around a chapter in a working copy."""
    files = {}
    for name in _FILES:
        if (root / name).is_file():
            files[name] = (root / name).read_bytes()
    for folder, endings in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and "__pycache__" not in name and name.endswith(endings) and not name.startswith(_LEFT_OUT):
                files[name] = path.read_bytes()
    return files


def _tasks_text(chapter):
    lines = []
    for one in exercises_of(chapter):
        for name, region in task_regions(chapter, one["id"]):
            lines.append(f"- **{one['id']}** {one['title']} ({one['points']} points): `chapters/{chapter.name}/{name}`, "
                         f"between `// BEGIN SOLUTION {one['id']}` and `// END SOLUTION`")
    return "\n".join(lines)


def start_page(chapter):
    number = chapter.number
    return f"""# Chapter {number}: {chapter.title}

This folder is yours to work in. It holds chapter {number} with holes where you write code, and all that it needs to build and test.

1. Read [chapters/{chapter.name}/README.md](chapters/{chapter.name}/README.md).
2. Write what stands between the markers of these tasks; each stub raises "exercise … is not done yet" until you replace it:

{_tasks_text(chapter)}

3. Two commands build and test it. The first build takes some minutes, later ones seconds.

```
./test.sh {number}          all tests of the chapter
tools/grade .         the tasks: which are done, and what is wrong with the others
```

`tools/stage hint {number}.1` says a task's hint once more. No GPU is needed: kernels run in an emulator ([docs/emulator.md](docs/emulator.md)).
`RUNG_NO_INSTALL=1` in front of a command keeps it from installing or downloading anything.
"""


def hand_out(root, chapter):
    """Path -> bytes of a whole working copy for the chapter."""
    files = surroundings(root)
    for name, data in skeleton(chapter).items():
        files[f"chapters/{chapter.name}/{name}"] = data
    files["START.md"] = start_page(chapter).encode("utf-8")
    files[MARK] = (json.dumps({"schema": "rung-working-copy", "version": 1, "chapter": chapter.name}) + "\n").encode("utf-8")
    return files


def write_files(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if _executable(name):
            path.chmod(0o755)


def find_student_chapter(folder, wanted=None):
    """The chapter in a student's folder: the folder may be a working copy, or the chapter's own folder. `wanted` is a Chapter, or None
    for the newest one there."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ToolError(f"{folder}: no such folder")
    if (folder / "src").is_dir() and not (folder / "chapters").is_dir():
        if wanted is not None:
            return _named(folder, wanted.name)
        if re.fullmatch(r"\d\d-[a-z0-9-]+", folder.resolve().name):
            return Chapter(folder.resolve())
        raise ToolError(f"{folder}: holds a chapter, but its name does not say which; give --chapter NN")
    if not (folder / "chapters").is_dir():
        raise ToolError(f"{folder}: is neither a working copy (it has no chapters/) nor a chapter (it has no src/)")
    found = chapters_of(folder)
    if wanted is None:
        return found[-1]
    for chapter in found:
        if chapter.name == wanted.name:
            return chapter
    raise ToolError(f"{folder}: holds no chapters/{wanted.name}; it holds {', '.join(c.name for c in found)}")


def _named(folder, name):
    """A Chapter whose folder is called something else."""
    chapter = object.__new__(Chapter)
    chapter.path, chapter.name = Path(folder), name
    chapter.number, chapter.slug = name.split("-", 1)
    return chapter


def carry_over(root, before, chapter, mine):
    """The chapter's skeleton on top of a student's solution of the chapter before: (files, names that could not be merged).

    A file that the chapter leaves alone is the student's; one that it changes is merged three ways, and where that conflicts the chapter's is taken.
    """
    files = skeleton(chapter)
    conflicts = []
    for name in list(files):
        base, theirs = before.files.get(name), mine.files.get(name)
        if not name.startswith(STUDENT_FOLDERS) or base is None or theirs is None or theirs == base:
            continue
        if files[name] == base:
            files[name] = theirs
            continue
        try:
            merged, count = Repository(root).merge(theirs, base, files[name], (name, "before", "after"))
        except ToolError:
            merged, count = None, 1
        if count:
            conflicts.append(name)
        else:
            files[name] = merged
    for name, data in mine.files.items():
        if name.startswith(STUDENT_FOLDERS) and name not in files and name not in before.files:
            files[name] = data
    return files, conflicts


def undone(files, chapter):
    """Tasks of earlier chapters whose stub still stands in these files."""
    tasks = set()
    for name, data in files.items():
        if name.endswith(CODE_SUFFIXES):
            for region in regions(data.decode("utf-8", "replace")):
                if not own(chapter)(region.task) and region.task in NOT_DONE_CALL.findall("\n".join(region.solution)):
                    tasks.add(region.task)
    return sorted(tasks)


def _backup(folder, files):
    """Writes files below folder/backup/TIME and returns that path."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    target = folder / "backup" / stamp
    count = 1
    while target.exists():
        count += 1
        target = folder / "backup" / f"{stamp}-{count}"
    write_files(target, files)
    return target


def start(root, chapters, number, folder, on=None, say=print):
    _require_repository(root, "tools/stage start")
    chapter = find_chapter(chapters, number)
    folder = Path(folder)
    place = folder / "chapters" / chapter.name
    if place.exists():
        raise ToolError(f"{folder}: holds chapters/{chapter.name} already; tools/stage reset {chapter.number} {folder} puts its stubs back")
    if folder.exists() and not is_working_copy(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise ToolError(f"{folder}: is not empty and no working copy; give a new folder")
    files = hand_out(root, chapter)
    conflicts, open_tasks, backup = [], [], None
    if on is not None:
        before = previous_chapter(chapters, chapter)
        if before is None:
            raise ToolError(f"--on: chapter {chapter.number} is the first, there is no solution to go on from")
        mine = find_student_chapter(on, before)
        carried, conflicts = carry_over(root, before, chapter, mine)
        prefix = f"chapters/{chapter.name}/"
        files = {n: d for n, d in files.items() if not n.startswith(prefix)} | {prefix + n: d for n, d in carried.items()}
        open_tasks = undone(carried, chapter)
        if conflicts:
            backup = _backup(folder, {f"chapters/{before.name}/{n}": mine.files[n] for n in conflicts})
    write_files(folder, files)
    _link_model(root, folder)
    say(f"{folder}: chapter {chapter.number}, {chapter.title}")
    for name in conflicts:
        say(f"  chapters/{chapter.name}/{name}: this chapter changes what you changed too, so it is the book's; yours is kept in {backup}")
    if open_tasks:
        say(f"  not done yet in your solution: {', '.join(open_tasks)}; what builds on them will be blocked")
    points = sum(e["points"] for e in exercises_of(chapter))
    say(f"  {len(exercises_of(chapter))} tasks, {points} points: " + ", ".join(e["id"] for e in exercises_of(chapter)))
    say(f"next: read {folder}/START.md, write a task, then\n  cd {folder} && ./test.sh {chapter.number}\n  cd {folder} && tools/grade .")


def _link_model(root, folder):
    """The default model where it has been fetched already, without a second copy on the disk."""
    for model in (root / "models").glob("*.gguf"):
        (folder / "models").mkdir(exist_ok=True)
        try:
            os.link(model.resolve(), folder / "models" / model.name)
        except OSError:
            pass  # another file system, or there already: the scripts fetch it when they need it


def reset(root, chapters, what, folder, say=print):
    _require_repository(root, "tools/stage reset")
    task = what if "." in what else None
    chapter = exercise(chapters, task)[0] if task else find_chapter(chapters, what)
    mine = find_student_chapter(folder, chapter)
    fresh = skeleton(chapter)
    chosen = (lambda t: t == task) if task else own(chapter)
    new = {}
    for name in chapter.files:
        wanted = [r for r in regions(chapter.code(name)) if chosen(r.task)] if name.endswith(CODE_SUFFIXES) else []
        if not wanted:
            continue
        theirs = mine.files.get(name, b"").decode("utf-8", "replace")
        if [r.task for r in regions(theirs) if chosen(r.task)] == [r.task for r in wanted]:
            stubs = {}
            for region in wanted:
                stubs.setdefault(region.task, []).append(region.stub)
            new[name] = replaced(theirs, stubs).encode("utf-8")
        else:
            if task:
                say(f"{name}: its markers are gone, so the whole file is put back")
            new[name] = fresh[name]
    if not task:
        for name, data in fresh.items():
            if not name.startswith(STUDENT_FOLDERS) or name not in mine.files:
                new.setdefault(name, data)
    changed = {n: d for n, d in new.items() if mine.files.get(n) != d}
    if not changed:
        say(f"{what}: nothing to reset, it is as it was handed out")
        return
    backup = _backup(Path(folder), {f"chapters/{chapter.name}/{n}": mine.files[n] for n in changed if n in mine.files})
    write_files(mine.path, changed)
    for name in sorted(changed):
        say(f"reset: {name}")
    say(f"what stood there is kept in {backup}")


def section_of(chapter, task):
    """The heading of the README under which the task's code is shown; None if it is not."""
    heading = None
    in_fence = False
    text = chapter.files.get("README.md", b"").decode("utf-8", "replace")
    places = {}
    for name, region in task_regions(chapter, task):
        places.setdefault(name, []).append((region.first + 1, region.last + 1))
    fallback = None
    for line in text.split("\n"):
        if line.startswith("```"):
            in_fence = not in_fence
        elif not in_fence and line.startswith("## "):
            heading = line[3:].strip()
        for link in re.finditer(r"\]\((src/[^)#]+)#L(\d+)(?:-L(\d+))?\)", line):
            first, last = int(link.group(2)), int(link.group(3) or link.group(2))
            if any(a <= last and first <= b for a, b in places.get(link.group(1), ())):
                return heading
        if f"exercise {task}: yours to write" in line:
            return heading
        if fallback is None and heading and task in line and not line.startswith("|"):
            fallback = heading
    return fallback


def hint(chapters, task, say=print):
    chapter, one = exercise(chapters, task)
    say(f"{task}: {one['title']} ({one['points']} points)")
    for name, _ in task_regions(chapter, task):
        say(f"  where: chapters/{chapter.name}/{name}")
    section = section_of(chapter, task)
    if section:
        say(f"  read:  chapters/{chapter.name}/README.md, “{section}”")
    say(f"  hint:  {one['hint']}")


def solution(root, chapters, task, say=print):
    _require_repository(root, "tools/stage solution")
    chapter, one = exercise(chapters, task)
    say(f"{task}: {one['title']}")
    for name in {name: None for name, _ in task_regions(chapter, task)}:
        text = chapter.code(name)
        solved = "\n".join(line for line in text.split("\n") if not re.match(r"[ \t]*// STUB:", line))
        stub = stubbed(text, lambda t: t == task)
        stub = "\n".join(line for line in stub.split("\n") if not re.match(r"[ \t]*// STUB:", line))
        for line in difflib.unified_diff(stub.split("\n"), solved.split("\n"), f"{name} (stub)", f"{name} (solution)", lineterm=""):
            say(line)


def export(root, chapters, number, archive, say=print):
    _require_repository(root, "tools/stage export")
    chapter = find_chapter(chapters, number)
    archive = Path(archive)
    files = hand_out(root, chapter)
    top = f"rung-{chapter.number}"
    partial = archive.with_name(archive.name + ".part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as out:
            for name in sorted(files):
                entry = zipfile.ZipInfo(f"{top}/{name}", (1980, 1, 1, 0, 0, 0))  # the same bytes each time
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if _executable(name) else 0o100644) << 16
                out.writestr(entry, files[name])
        shutil.move(partial, archive)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ToolError(f"{archive}: cannot be written: {error.strerror}") from None
    say(f"{archive}: {len(files)} files, {archive.stat().st_size / 1e6:.1f} MB, chapter {chapter.number} without solutions")
