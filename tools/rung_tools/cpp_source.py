"""Finding things in C++ and CUDA sources without a compiler: comments, braces, functions, types, markers."""

import re

from .errors import ToolError

_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)")"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+')""",
    re.DOTALL | re.VERBOSE,
)
MARKER_LINE = re.compile(r"^[ \t]*//[ \t]*(BEGIN SOLUTION\b|END SOLUTION\b|STUB:)")


def blank_non_code(text):
    """The text with comments and the insides of strings turned into spaces: same length, same lines."""
    return _TOKENS.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def matching(code, start, opening="{", closing="}"):
    """Index of the bracket that closes the one at code[start]; code has gone through blank_non_code."""
    depth = 0
    for i in range(start, len(code)):
        if code[i] == opening:
            depth += 1
        elif code[i] == closing:
            depth -= 1
            if depth == 0:
                return i
    raise ToolError(f"an opening '{opening}' is never closed")


def line_of(text, position):
    """Line number, from 0."""
    return text.count("\n", 0, position)


def _declaration_start(code_lines, line):
    """The first line of the declaration that reaches `line`: template<…>, __global__, the return type."""
    while line > 0:
        above = code_lines[line - 1].strip()
        if not above or above.endswith((";", "}", "{", ":")) or above.startswith("#"):
            break
        line -= 1
    return line


def find_functions(text, name):
    """(first, last) lines, from 0 and inclusive, of every definition of the function.

    `name` may be qualified ("Reader::read") or carry the start of its parameters ("rms_norm(Cpu&") to choose an overload.
    """
    code = blank_non_code(text)
    code_lines = code.split("\n")
    head, paren, parameters = name.partition("(")
    pattern = r"(?<![\w:.>])" + r"\s*::\s*".join(re.escape(p) for p in head.strip().split("::")) + r"\s*\("
    if "::" not in head:
        pattern = r"(?<![\w.>])" + re.escape(head.strip()) + r"\s*\("
    squeeze = lambda s: re.sub(r"\s+", "", s)
    found = []
    for match in re.finditer(pattern, code):
        try:
            close = matching(code, match.end() - 1, "(", ")")
        except ToolError:
            continue
        if paren and not squeeze(code[match.end(): close + 1]).startswith(squeeze(parameters)):
            continue
        # What may stand between the parameters and the body: const, noexcept, -> type, : initialisers.
        tail = re.compile(r"\s*(?:(?:const|noexcept|override|final|mutable)\b\s*)*(?:->\s*[\w:<>,&*\s]+?(?=\s*[{;]))?\s*(?P<init>:(?!:))?").match(code, close + 1)
        at = tail.end()
        if tail.group("init"):
            initialiser = re.compile(r"\s*[\w:<>]+\s*([({])")
            while opened := initialiser.match(code, at):
                opening = opened.group(1)
                at = matching(code, opened.end() - 1, opening, ")" if opening == "(" else "}") + 1
                comma = re.compile(r"\s*,").match(code, at)
                if not comma:
                    break
                at = comma.end()
        body = re.compile(r"\s*\{").match(code, at)
        if not body:
            continue
        before = code[: match.start()].rstrip()
        if before.endswith(("return", "=", "(", ",", "if", "!", "&&", "||")):
            continue
        first = _declaration_start(code_lines, line_of(code, match.start()))
        found.append((first, line_of(code, matching(code, body.end() - 1))))
    return found


def find_types(text, name):
    """(first, last) lines of every definition of a struct, class, union or enum of this name."""
    code = blank_non_code(text)
    found = []
    for match in re.finditer(rf"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^)]*\)\s*)?{re.escape(name)}\b[^;{{}}()]*\{{", code):
        end = matching(code, match.end() - 1)
        semicolon = re.compile(r"[^;\n]*;").match(code, end + 1)
        end = semicolon.end() - 1 if semicolon else end
        first = _declaration_start(code.split("\n"), line_of(code, match.start()))
        found.append((first, line_of(code, end)))
    return found


def statement_end(text, line):
    """The last line of the statement or block that starts at `line`: its closing brace, or its semicolon."""
    code = blank_non_code(text)
    position = sum(len(l) + 1 for l in code.split("\n")[:line])
    depth = 0
    for i in range(position, len(code)):
        if code[i] in "([":
            depth += 1
        elif code[i] in ")]":
            depth -= 1
        elif code[i] == "{" and depth == 0:
            end = matching(code, i)
            rest = re.compile(r"[ \t]*(;|else\b)?").match(code, end + 1)
            if rest.group(1) == "else":
                return _else_end(code, end)
            return line_of(code, end)
        elif code[i] == ";" and depth == 0:
            return line_of(code, i)
    raise ToolError("the statement never ends")


def _else_end(code, end):
    while True:
        opened = re.compile(r"[^{};]*\{").match(code, end + 1)
        if not opened:
            return line_of(code, code.index(";", end))
        end = matching(code, opened.end() - 1)
        if not re.compile(r"\s*else\b").match(code, end + 1):
            return line_of(code, end)


def kernels(text):
    """Names of the __global__ functions that the text defines or declares, in order, each once."""
    code = blank_non_code(text)
    names = []
    for match in re.finditer(r"__global__", code):
        head = re.sub(r"__launch_bounds__\s*\([^)]*\)", "", code[match.end(): match.end() + 400])
        name = re.match(r"[^(){};]*?(\w+)\s*\(", head)
        if name and name.group(1) not in names:
            names.append(name.group(1))
    return names


def purpose(text, name=""):
    """The first sentence of the comment that opens a file; empty when there is none."""
    lines = []
    in_block = False
    hash_comments = not name.endswith(CPP_SUFFIXES)
    for line in text.split("\n")[:40]:
        if MARKER_LINE.match(line):
            continue
        stripped = line.strip()
        if in_block:
            body = stripped.removesuffix("*/").strip().lstrip("*").strip()
            if not body and lines:
                break
            lines.append(body)
            if stripped.endswith("*/"):
                break
        elif stripped.startswith("//"):
            body = stripped.lstrip("/").strip()
            if not body:
                if lines:
                    break
                continue
            lines.append(body)
        elif stripped.startswith("/*"):
            in_block = not stripped.endswith("*/")
            body = stripped.removeprefix("/*").removesuffix("*/").strip().lstrip("*").strip()
            if body:
                lines.append(body)
            if not in_block:
                break
        elif hash_comments and stripped.startswith("#") and not stripped.startswith("#!"):
            lines.append(stripped.lstrip("#").strip())
        elif hash_comments and stripped.startswith('"""'):
            lines.append(stripped.strip('"').strip())
            break
        elif lines or (stripped and not stripped.startswith("#")):
            break
    sentence = " ".join(l for l in lines if l)
    end = re.search(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bet al)\.(?=\s|$)", sentence)
    return (sentence[: end.start()] if end else sentence).strip()


CPP_SUFFIXES = (".h", ".cpp", ".cu", ".cuh", ".hpp", ".c")
