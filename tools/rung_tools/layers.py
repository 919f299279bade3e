"""The layer order: which folders below src/ a file may include from (design section 3)."""

import re

from .chapter import CODE_SUFFIXES

LAYERS = ("tensor", "model_file", "tokenizer", "ops", "cache", "model", "engine", "server", "trace", "commands")

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?:\"([^\"]+)\"|<([^>]+)>)", re.MULTILINE)


def includes(text):
    """(line number, path, quoted) of every #include."""
    for match in _INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1) or match.group(2), match.group(1) is not None


def _problem(name, path, quoted):
    parts = name.split("/")
    top, layer = parts[0], parts[1] if parts[0] == "src" and len(parts) > 2 else None
    target = path.split("/")[0]
    known = target in LAYERS or target in ("rung", "testing")
    if not quoted and not known:
        return None  # the standard library, CUDA and other libraries
    if ".." in path.split("/") or path.startswith("/"):
        return f'includes "{path}": write it from src/, without ..'
    if "/" not in path:
        return f'includes "{path}": write it from src/ with its layer, "{layer or "layer"}/{path}"'
    if target == "testing":
        return f'includes "{path}": testing/ is only for tests/ and bench/' if top == "src" else None
    if target == "rung":
        return None
    if target not in LAYERS:
        if top != "src":
            return None  # a test's own helper below tests/
        return f'includes "{path}": {target}/ is neither a layer nor rung/'
    if layer is not None and LAYERS.index(target) > LAYERS.index(layer):
        return f'includes "{path}" against the layer order: {layer} stands above {target} and must not know it'
    return None


def check_layers(chapter):
    """Errors of one chapter, each "path:line: what"."""
    errors = []
    for name in chapter.files:
        if not name.endswith(CODE_SUFFIXES) or name.split("/")[0] not in ("src", "tests", "bench"):
            continue
        parts = name.split("/")
        if parts[0] == "src" and len(parts) > 2 and parts[1] not in LAYERS:
            errors.append(f"{name}: src/{parts[1]}/ is not a layer; layers are {', '.join(LAYERS)}")
            continue
        for line, path, quoted in includes(chapter.code(name)):
            problem = _problem(name, path, quoted)
            if problem:
                errors.append(f"{name}:{line}: {problem}")
    return errors
