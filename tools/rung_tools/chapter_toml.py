"""chapter.toml: reading it, and rewriting its lists of files without touching the rest of the text."""

import re
import tomllib

from .errors import ToolError

FILE_LISTS = ("adds", "changes", "removes")


def read_chapter_toml(path):
    """The parsed table; a ToolError names the file when it is missing or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ToolError(f"{path}: missing; every chapter needs a chapter.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ToolError(f"{path}: not valid TOML: {error}") from None


def format_list(key, values):
    """One line when it fits into 100 columns, else one value a line."""
    quoted = ['"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for v in values]
    line = f"{key} = [{', '.join(quoted)}]"
    if len(line) <= 100:
        return line
    return f"{key} = [\n" + "".join(f"    {q},\n" for q in quoted) + "]"


def _end_of_array(text, start):
    """Index just after the ']' that closes the array opening at text[start], strings and comments respected."""
    depth = 0
    i = start
    while i < len(text):
        c = text[i]
        if c in "\"'":
            i += 1
            while i < len(text) and text[i] != c:
                i += 2 if c == '"' and text[i] == "\\" else 1
        elif c == "#":
            while i < len(text) and text[i] != "\n":
                i += 1
        elif c == "[":
            depth += 1
        elif c == "]":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    raise ToolError("chapter.toml: an array is never closed")


def set_file_lists(text, lists):
    """The text with its top-level arrays adds, changes and removes replaced by those in `lists` (added when missing).

    An array of such a name that stands below a [table], where TOML would give it to that table, is moved up.
    """
    for key in FILE_LISTS:
        if key not in lists:
            continue
        new = format_list(key, sorted(lists[key]))
        placed = False
        position = 0
        pattern = re.compile(rf"^{key}[ \t]*=[ \t]*\[", re.MULTILINE)
        while found := pattern.search(text, position):
            end = _end_of_array(text, found.end() - 1)
            if not placed and found.start() < _first_table(text):
                text = text[: found.start()] + new + text[end:]
                position = found.start() + len(new)
                placed = True
            else:
                rest = text[end:].lstrip(" \t").removeprefix("\n")
                text = text[: found.start()] + rest
                position = found.start()
        if not placed:
            at = _first_table(text)
            before = text[:at].rstrip("\n")
            after = text[at:]
            text = (before + "\n" if before else "") + new + "\n" + ("\n" + after if after else "")
    return text


def _first_table(text):
    """Where the first [table] or [[table]] header starts; the end of the text when there is none."""
    i = 0
    while i < len(text):
        newline = text.find("\n", i)
        end = len(text) if newline < 0 else newline
        if re.match(r"[ \t]*\[", text[i:end]):
            return i
        value = re.match(r"[ \t]*[\w.\"-]+[ \t]*=[ \t]*\[", text[i:end])
        if value:
            i = _end_of_array(text, i + value.end() - 1)
            newline = text.find("\n", i)
            end = len(text) if newline < 0 else newline
        i = end + 1
    return len(text)
