"""Lines added and removed between two versions of a file."""

import difflib


def is_binary(data):
    if b"\0" in data[:8192]:
        return True
    try:
        data.decode("utf-8")
        return False
    except UnicodeDecodeError:
        return True


def text_lines(data):
    return data.decode("utf-8", "replace").splitlines()


def count_changes(old, new):
    """(lines added, lines removed); old or new is None when the file is missing there."""
    if old is None or new is None:
        return (len(text_lines(new)) if new is not None else 0, len(text_lines(old)) if old is not None else 0)
    added = removed = 0
    matcher = difflib.SequenceMatcher(None, text_lines(old), text_lines(new), autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag != "equal":
            added += b1 - b0
            removed += a1 - a0
    return added, removed
