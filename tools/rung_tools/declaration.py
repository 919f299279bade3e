"""chapter.toml's own content: title, hardware, exercises and the tests that grade them."""

import fnmatch
import re

_TEST_CASE = re.compile(r'\b(?:TEMPLATE_(?:PRODUCT_|LIST_)?)?(?:TEST_CASE|SCENARIO)(?:_METHOD|_SIG)?\s*\(\s*(?:\w+\s*,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)(?:,\s*((?:"(?:[^"\\]|\\.)*"\s*)+))?')
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_KEYS = {"title", "hardware", "adds", "changes", "removes", "not_shown", "exercises"}


def _joined(literals):
    text = "".join(_LITERAL.findall(literals or ""))
    return re.sub(r"\\(.)", r"\1", text)


def test_cases(chapter):
    """(name, tags) of the Catch2 test cases in the chapter's tests/."""
    found = []
    for name in chapter.files:
        if name.startswith("tests/") and name.endswith(".cpp"):
            for match in _TEST_CASE.finditer(chapter.code(name)):
                found.append((_joined(match.group(1)), _joined(match.group(2))))
    return found


def matches_some_test(pattern, cases):
    """Whether Catch2 would find a test case by this name, pattern with * or [tag]."""
    if pattern.startswith("["):
        wanted = re.findall(r"\[[^\]]+\]", pattern)
        return any(all(tag in tags for tag in wanted) for _, tags in cases)
    glob = re.sub(r"([\[\]?])", r"[\1]", pattern)
    globs = [glob] + ([glob.rsplit(" - ", 1)[0]] if " - " in glob else [])  # a TEMPLATE_TEST_CASE's name ends in " - type"
    return any(fnmatch.fnmatchcase(name, g) for name, _ in cases for g in globs)


def check_declaration(chapter):
    """(errors, warnings) about one chapter's chapter.toml."""
    errors, warnings = [], []
    toml = chapter.toml

    def text(table, key, where):
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            errors.append(f"chapter.toml: {where}{key} is missing or empty")
            return None
        return value

    text(toml, "title", "")
    text(toml, "hardware", "")
    for key in ("adds", "changes", "removes"):
        value = toml.get(key)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            errors.append(f"chapter.toml: {key} must be a list of paths")
    for key in sorted(set(toml) - _KEYS):
        errors.append(f"chapter.toml: unknown key {key}")
    exercises = toml.get("exercises", [])
    if not isinstance(exercises, list) or not all(isinstance(e, dict) for e in exercises):
        errors.append("chapter.toml: exercises must be [[exercises]] tables")
        return errors, warnings
    if len(exercises) < 2:
        warnings.append(f"chapter.toml: {len(exercises)} exercises; a chapter has at least two")
    cases = test_cases(chapter)
    seen = set()
    for exercise in exercises:
        identity = exercise.get("id")
        if not isinstance(identity, str) or not re.fullmatch(r"\d\d\.\d+", identity):
            errors.append(f'chapter.toml: an exercise has id {identity!r}; ids are written like "{chapter.number}.1"')
            continue
        where = f"exercise {identity}: "
        if identity in seen:
            errors.append(f"chapter.toml: exercise {identity} is listed twice")
        seen.add(identity)
        if not identity.startswith(chapter.number + "."):
            errors.append(f"chapter.toml: {where}its number is not this chapter's ({chapter.number})")
        text(exercise, "title", where)
        text(exercise, "hint", where)
        points = exercise.get("points")
        if not isinstance(points, int) or isinstance(points, bool) or points <= 0:
            errors.append(f"chapter.toml: {where}points must be a whole number above 0")
        tests = exercise.get("tests")
        if not isinstance(tests, list) or not tests or not all(isinstance(t, str) and t.strip() for t in tests):
            errors.append(f"chapter.toml: {where}tests must list the test cases that grade it")
            continue
        for pattern in tests:
            if not matches_some_test(pattern, cases):
                errors.append(f"chapter.toml: {where}no test case in tests/ matches {pattern!r}")
    return errors, warnings
