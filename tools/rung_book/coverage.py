"""tools/book check: every file that a chapter adds or changes is shown in its text, or chapter.toml says why not."""

import fnmatch
import re

from rung_tools.chapter import difference, previous_chapter
from rung_tools.diff import FileDiff

_EXCERPT = re.compile(r"^\*\[(\S+?)\]\(\S+?\), lines? (\d+)(?:–(\d+))?\*$", re.MULTILINE)


def excerpts(chapter):
    """Path -> (first, last) lines, from 0 and without the last, of each excerpt in the chapter's README."""
    found = {}
    text = chapter.code("README.md") if "README.md" in chapter.files else ""
    for path, first, last in _EXCERPT.findall(text):
        found.setdefault(path, []).append((int(first) - 1, int(last or first)))
    return found


def _not_shown(chapter, errors):
    """(pattern, reason) pairs of chapter.toml's not_shown."""
    pairs = []
    for entry in chapter.toml.get("not_shown", []):
        files = entry.get("files") if isinstance(entry, dict) else None
        why = entry.get("why") if isinstance(entry, dict) else None
        if not isinstance(files, list) or not files or not all(isinstance(f, str) for f in files) or not isinstance(why, str) or not why.strip():
            errors.append('chapter.toml: each entry of not_shown is { files = ["src/…"], why = "…" }')
            continue
        pairs += [(pattern, why) for pattern in files]
    return pairs


def hunks(before, chapter, name):
    """(first, last) lines of the new file, from 0 and without the last, of every changed run; a run that only removes is empty."""
    diff = FileDiff(name, before.files.get(name) if before else None, chapter.files[name])
    _, _, matcher = diff.opcodes()
    return [(j0, j1) for tag, _, _, j0, j1 in matcher.get_opcodes() if tag != "equal"]


def check_chapter(chapters, chapter):
    """(errors, changed hunks shown, changed hunks) of one chapter. Added files count as one hunk each."""
    errors = []
    before = previous_chapter(chapters, chapter)
    real = difference(before, chapter)
    shown_lines = excerpts(chapter)
    pairs = _not_shown(chapter, errors)
    used = set()
    shown = total = 0
    for name in real["adds"] + real["changes"]:
        new = name in real["adds"]
        runs = [(0, len(chapter.files[name]))] if new else hunks(before, chapter, name)
        covered = sum(any(first < max(b, a + 1) and a < last for first, last in shown_lines.get(name, [])) for a, b in runs)
        total += len(runs)
        shown += covered
        matching = [pattern for pattern, _ in pairs if fnmatch.fnmatchcase(name, pattern)]
        if covered:
            continue
        used.update(matching)
        if not matching:
            what = "added" if new else "changed"
            errors.append(f"{name}: {what}, but no excerpt shows {'it' if new else 'a changed line of it'} and not_shown does not list it")
    for pattern, _ in pairs:
        if pattern not in used:
            errors.append(f"chapter.toml: not_shown lists {pattern}, which matches no file that is added or changed and not shown")
    return errors, shown, total
