"""Exercise markers in the sources: // BEGIN SOLUTION 06.2, // STUB: …, // END SOLUTION."""

import re

from .chapter import CODE_SUFFIXES

_ANY = re.compile(r"\b(BEGIN|END)[ _-]*SOLUTIONS?\b|//[ \t]*STUB\b", re.IGNORECASE)
_BEGIN = re.compile(r"^[ \t]*// BEGIN SOLUTION (\d\d\.\d+)[ \t]*$")
_END = re.compile(r"^[ \t]*// END SOLUTION[ \t]*$")
_STUB = re.compile(r"^[ \t]*// STUB:( .*)?$")


def scan_markers(text):
    """(ids in order, errors as (line number, what)) of one file."""
    ids, errors = [], []
    opened = None  # (id, line)
    for number, line in enumerate(text.split("\n"), 1):
        if not _ANY.search(line):
            continue
        begin = _BEGIN.match(line)
        if begin:
            if opened:
                errors.append((number, f"solution {begin.group(1)} begins inside solution {opened[0]} (line {opened[1]}); they cannot nest"))
            else:
                opened = (begin.group(1), number)
            ids.append(begin.group(1))
        elif _END.match(line):
            if not opened:
                errors.append((number, "END SOLUTION without a BEGIN SOLUTION"))
            opened = None
        elif _STUB.match(line):
            if not opened:
                errors.append((number, "a STUB line outside a solution"))
        else:
            errors.append((number, f"not a marker: {line.strip()!r}; write '// BEGIN SOLUTION 06.2', '// STUB: code' or '// END SOLUTION'"))
    if opened:
        errors.append((opened[1], f"solution {opened[0]} never ends"))
    return ids, errors


def check_markers(chapter, seen):
    """Errors of one chapter. `seen` holds the ids of earlier chapters; this chapter's are added to it."""
    errors = []
    places = {}
    for name in chapter.files:
        if not name.endswith(CODE_SUFFIXES):
            continue
        ids, wrong = scan_markers(chapter.code(name))
        errors += [f"{name}:{line}: {what}" for line, what in wrong]
        for exercise in ids:
            places.setdefault(exercise, name)
    exercises = chapter.toml.get("exercises", [])
    named = [str(e["id"]) for e in exercises if isinstance(e, dict) and "id" in e] if isinstance(exercises, list) else []
    for exercise, name in places.items():
        if exercise in seen:
            if exercise in named:
                errors.append(f"chapter.toml: exercise {exercise} belongs to an earlier chapter")
            continue
        if not exercise.startswith(chapter.number + "."):
            errors.append(f"{name}: solution {exercise} first appears here, but its number is not this chapter's ({chapter.number})")
        elif exercise not in named:
            errors.append(f"{name}: solution {exercise} is not named among the exercises of chapter.toml")
    for exercise in named:
        if exercise not in places:
            errors.append(f"chapter.toml: exercise {exercise} has no '// BEGIN SOLUTION {exercise}' in the sources")
    seen.update(places)
    return errors
