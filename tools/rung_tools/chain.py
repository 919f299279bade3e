"""The chain: what differs between neighbours is what chapter.toml declares, and shared files name no chapter."""

import re

from .chapter import CODE_SUFFIXES, difference
from .errors import ToolError


def check_difference(before, after):
    """Errors where the real difference to the previous chapter and the declared one disagree."""
    errors = []
    real = difference(before, after)
    which = before.name if before else "an empty chapter"
    said = {}
    for key in ("adds", "changes", "removes"):
        value = after.toml.get(key, [])
        said[key] = [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
    for key, is_true in (("adds", "is new"), ("changes", f"differs from {which}"), ("removes", f"is gone since {which}")):
        for name in sorted(set(real[key]) - set(said[key])):
            errors.append(f"{name}: {is_true}, but chapter.toml does not list it under {key}")
        for name in sorted(set(said[key]) - set(real[key])):
            errors.append(f"chapter.toml: {key} lists {name}, which {_why_not(key, name, before, after, which)}")
        for name in sorted({n for n in said[key] if said[key].count(n) > 1}):
            errors.append(f"chapter.toml: {key} lists {name} twice")
    return errors


def _why_not(key, name, before, after, which):
    old = before.listed_files if before else {}
    new = after.listed_files
    if name not in old and name not in new:
        return "is in neither chapter"
    if key == "removes":
        return "is still there" if name in new else f"{which} does not have"
    if name not in new:
        return "is not in this chapter"
    if key == "adds":
        return f"{which} has already"
    return f"is identical with {which}'s" if name in old else f"{which} does not have (it is new)"


def check_same_cmake(chapters):
    """[(chapter, error)]: CMakeLists.txt must be the same bytes in every chapter."""
    errors = []
    with_file = [c for c in chapters if "CMakeLists.txt" in c.files]
    for chapter in chapters:
        if "CMakeLists.txt" not in chapter.files:
            errors.append((chapter, "CMakeLists.txt: missing"))
        elif chapter.files["CMakeLists.txt"] != with_file[0].files["CMakeLists.txt"]:
            errors.append((chapter, f"CMakeLists.txt: differs from that of {with_file[0].name}; it is the same everywhere"))
    return errors


def check_names(chapter, chapters):
    """Errors where a code file names a chapter, which would make it differ along the chain."""
    # Short titles such as "Paged attention" are also the plain name of a thing.
    titles = [c.title for c in chapters if len(c.title.split()) > 3]
    named = re.compile(
        r"\bchapters?[\s/_-]*\d+|\b(?:" + "|".join(re.escape(c.name) for c in chapters) + r")\b"
        + ("|" + "|".join(re.escape(t) for t in titles) if titles else ""),
        re.IGNORECASE,
    )
    errors = []
    for name in chapter.files:
        if not name.endswith(CODE_SUFFIXES):
            continue
        text = chapter.code(name)
        for match in named.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{line}: names a chapter ({match.group(0)!r}); shared files must not")
    return errors


def files_changed_everywhere(chapters):
    """Paths that every chapter after the one that adds them changes (three chapters at least): each conflicts at every propagation."""
    found = []
    changed = [set(difference(a, b)["changes"]) for a, b in zip(chapters, chapters[1:])]
    for name in sorted(set().union(*changed) if changed else ()):
        first = next(i for i, c in enumerate(chapters) if name in c.files)
        later = changed[first:]
        if len(later) >= 3 and all(name in c for c in later):
            found.append(name)
    return found


def require_unique_numbers(chapters):
    for a, b in zip(chapters, chapters[1:]):
        if a.number == b.number:
            raise ToolError(f"chapters/{a.name} and chapters/{b.name} have the same number")
