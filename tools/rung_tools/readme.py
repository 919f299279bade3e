"""A chapter's README: its cog blocks (excerpts and tables made from the sources) and its length."""

import difflib
import importlib.util
import io
import os
import re
import sys

from .errors import ToolError

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PROLOGUE = "from cog_helpers import *"
_BLOCK = re.compile(r"(\[\[\[cog\b.*?\]\]\][^\n]*\n)(.*?)(^[^\n]*\[\[\[end\]\]\])", re.DOTALL | re.MULTILINE)


def can_regenerate():
    return importlib.util.find_spec("cogapp") is not None


def _cog():
    if not can_regenerate():
        raise ToolError("cogapp is not installed, so READMEs cannot be regenerated: pip install cogapp")
    from cogapp import Cog

    return Cog


def regenerate(path):
    """The README's text with every cog block run again. The file is not written."""
    Cog = _cog()
    text = path.read_text(encoding="utf-8")
    if "[[[cog" not in text:
        return text
    # Old output goes first: C++ such as a[b[c[0]]] would look like cog's own marker in it. Blank lines keep cog's line numbers right.
    emptied = _BLOCK.sub(lambda m: m.group(1) + "\n" * m.group(2).count("\n") + m.group(3), text)
    if TOOLS not in sys.path:
        sys.path.insert(0, TOOLS)
    cog = Cog()
    cog.set_output(stdout=io.StringIO(), stderr=io.StringIO())
    cog.options.prologue = _PROLOGUE
    cog.options.no_generate = False
    try:
        return cog.process_string(emptied, fname=str(path))
    except Exception as error:  # whatever a block or cog raises is the README's mistake, not the tool's
        report = [line.strip() for line in str(error).strip().split("\n")] or [""]
        place = next((re.search(r", line (\d+),", line) for line in report if "README.md" in line), None)
        line = int(place.group(1)) if place else 0
        if line > 1 and re.search(r"\[\[\[cog\b.*\]\]\]", text.split("\n")[line - 2]):
            line -= 1  # cog counts a block that stands on one line from the next
        raise ToolError(f"{path.parent.name}/README.md: a cog block fails{f' at line {line}' if line else ''}: "
                        f"{report[-1].removeprefix('ToolError: ') or type(error).__name__}") from None


def drift(path):
    """A unified diff from the README as it stands to what its cog blocks now give; empty when they agree."""
    old = path.read_text(encoding="utf-8")
    new = regenerate(path)
    return list(difflib.unified_diff(old.split("\n"), new.split("\n"), "README.md", "README.md (regenerated)", n=1, lineterm=""))


def rewrite(path):
    """Run the cog blocks and write the README when they changed it. True when written."""
    old = path.read_text(encoding="utf-8")
    new = regenerate(path)
    if new == old:
        return False
    path.write_text(new, encoding="utf-8")
    return True


def prose_words(text):
    """Words that a reader reads: code, generated blocks, tables and HTML comments do not count."""
    text = _BLOCK.sub("", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    return len(re.findall(r"[^\W_][\w'’.-]*", text))
