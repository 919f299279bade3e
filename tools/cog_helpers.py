"""What a chapter's README may call in its cog blocks: excerpt, file_table, exercise_table (see tools/README.md)."""

import os
import textwrap
from pathlib import Path

from rung_tools.chapter import Chapter, chapters_of, difference, previous_chapter
from rung_tools.cpp_source import MARKER_LINE, find_functions, find_types, purpose, statement_end
from rung_tools.errors import ToolError
from rung_tools.line_counts import count_changes, is_binary

__all__ = ["excerpt", "file_table", "exercise_table"]

_LANGUAGES = {
    ".h": "cpp", ".cpp": "cpp", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".sh": "bash", ".cmake": "cmake",
    ".toml": "toml", ".json": "json", ".md": "markdown",
}


def _chapter_folder():
    """The folder of the README that cog is working on."""
    import cog

    return Path(os.path.abspath(cog.inFile)).parent


def _unique_line(lines, text, path, start=0):
    found = [i for i in range(start, len(lines)) if text in lines[i]]
    if not found:
        raise ToolError(f"{path}: no line contains {text!r}")
    if len(found) > 1:
        numbers = ", ".join(str(i + 1) for i in found[:6])
        raise ToolError(f"{path}: {text!r} stands on lines {numbers}; give a text that only one line contains")
    return found[0]


def _following_line(lines, text, path, start):
    for i in range(start, len(lines)):
        if text in lines[i]:
            return i
    raise ToolError(f"{path}: no line after line {start} contains {text!r}")


def _one(found, what, path, nth):
    if not found:
        raise ToolError(f"{path}: found no definition of {what}")
    if nth is None and len(found) > 1:
        lines = ", ".join(str(first + 1) for first, _ in found)
        raise ToolError(f"{path}: {what} is defined on lines {lines}; choose one with nth=1… "
                        "or with the start of its parameters")
    if nth is not None and not 1 <= nth <= len(found):
        raise ToolError(f"{path}: nth={nth}, but {what} is defined {len(found)} times")
    return found[(nth or 1) - 1]


def excerpt(path, *, function=None, type=None, between=None, starting=None, lines=None, nth=None,
            comment=False, elide=()):
    """A piece of this chapter's own file as a fenced block, followed by a line that links the file.

    Choose one way to find it (none of them: the whole file):
      function="rms_norm"        the definition of a function; "rms_norm(Cpu&" or nth=2 chooses an overload
      type="Tensor"              the definition of a struct, class, union or enum
      between=("a", "b")         from the only line that contains a to the next one that contains b, both included
      starting="for (int row"    from the only line that contains the text to the end of its statement or block;
                                 with lines=5 instead exactly five lines
    comment=True also takes the comment directly above. elide=[("a", "b")] replaces such a run of lines by "// …".
    """
    folder = _chapter_folder()
    file = folder / path
    if not file.is_file():
        raise ToolError(f"{path}: {folder.name} has no such file")
    text = file.read_text(encoding="utf-8")
    source = text.split("\n")
    if source and source[-1] == "":
        source.pop()
    ways = [w for w in (function, type, between, starting) if w is not None]
    if len(ways) > 1:
        raise ToolError(f"{path}: excerpt() takes one of function, type, between and starting")
    first, last = 0, len(source) - 1
    if function is not None:
        first, last = _one(find_functions(text, function), function, path, nth)
    elif type is not None:
        first, last = _one(find_types(text, type), type, path, nth)
    elif between is not None:
        first = _unique_line(source, between[0], path)
        last = _following_line(source, between[1], path, first if between[0] != between[1] else first + 1)
    elif starting is not None:
        first = _unique_line(source, starting, path)
        last = first + lines - 1 if lines else statement_end(text, first)
        if last >= len(source):
            raise ToolError(f"{path}: has no {lines} lines from line {first + 1} on")
    if comment:
        while first > 0 and source[first - 1].lstrip().startswith("//") and not MARKER_LINE.match(source[first - 1]):
            first -= 1
    taken = source[first: last + 1]
    for begin, end in elide:
        at = _unique_line(taken, begin, path)
        until = _following_line(taken, end, path, at)
        indent = taken[at][: len(taken[at]) - len(taken[at].lstrip())]
        taken[at: until + 1] = [indent + ("# …" if file.suffix in (".py", ".sh", ".cmake", ".txt") else "// …")]
    taken = [line for line in taken if not MARKER_LINE.match(line)]
    code = textwrap.dedent("\n".join(taken)).strip("\n")
    fence = "```"
    while fence in code:
        fence += "`"
    language = "cmake" if file.name == "CMakeLists.txt" else _LANGUAGES.get(file.suffix, "text")
    anchor = f"#L{first + 1}-L{last + 1}" if last > first else f"#L{first + 1}"
    where = f"lines {first + 1}–{last + 1}" if last > first else f"line {first + 1}"
    return _set_apart(f"{fence}{language}\n{code}\n{fence}\n*[{path}]({path}{anchor}), {where}*")


def _set_apart(markdown):
    """With a blank line on both sides: some Markdown readers want one between a comment and a fence or table."""
    return f"\n{markdown}\n"


def _cell(text):
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ").strip()


def file_table():
    """What this chapter adds, changes and removes against the one before, with line counts and each file's purpose."""
    folder = _chapter_folder()
    chapters = chapters_of(folder.parent.parent)
    after = next(c for c in chapters if c.name == folder.name)
    before = previous_chapter(chapters, after)
    real = difference(before, after)
    rows = ["| File | | Lines | What it is for |", "|---|---|---|---|"]
    for key, word in (("adds", "added"), ("changes", "changed"), ("removes", "removed")):
        for name in real[key]:
            old = before.files.get(name) if before else None
            new = after.files.get(name)
            data = new if new is not None else old
            link = f"[{name}]({name})" if new is not None else name
            if is_binary(data):
                size, what = f"{len(data):,} bytes", ""
            else:
                added, removed = count_changes(old, new)
                size = " ".join(s for s in (f"+{added}" if added else "", f"−{removed}" if removed else "") if s)
                what = purpose(data.decode("utf-8"), name)
            rows.append(f"| {link} | {word} | {size} | {_cell(what)} |")
    if len(rows) == 2:
        return _set_apart("This chapter changes no file.")
    return _set_apart("\n".join(rows))


def exercise_table():
    """The chapter's exercises from its chapter.toml."""
    exercises = Chapter(_chapter_folder()).toml.get("exercises", [])
    rows = ["| Exercise | Task | Points | Hint |", "|---|---|---|---|"]
    for e in exercises:
        rows.append(f"| {e.get('id', '')} | {_cell(e.get('title', ''))} | {e.get('points', '')} | {_cell(e.get('hint', ''))} |")
    return _set_apart("\n".join(rows))
