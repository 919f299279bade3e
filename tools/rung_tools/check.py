"""tools/stage check: everything about the chain that can be seen without building it."""

from . import readme
from .chain import check_difference, check_names, check_same_cmake, files_changed_everywhere, require_unique_numbers
from .chapter import find_chapter
from .declaration import check_declaration
from .errors import ToolError
from .layers import check_layers
from .markers import check_markers

WORDS = (1200, 3000)
DRIFT_LINES = 30


class Findings:
    def __init__(self):
        self.errors = []
        self.warnings = []

    def error(self, chapter, text):
        self.errors.append(f"chapters/{chapter.name}/{text}")

    def warning(self, chapter, text):
        self.warnings.append(f"chapters/{chapter.name}/{text}")


def check_readme(chapter, findings, fix):
    """The README's presence, length and cog blocks; with `fix` drifted blocks are rewritten. True when written."""
    path = chapter.path / "README.md"
    if not path.is_file():
        findings.error(chapter, "README.md: missing")
        return False
    written = False
    try:
        if fix:
            written = readme.rewrite(path)
        elif readme.can_regenerate():
            lines = readme.drift(path)
            if lines:
                shown = lines[2: 2 + DRIFT_LINES] + (["…"] if len(lines) > 2 + DRIFT_LINES else [])
                findings.error(chapter, "README.md: an excerpt or table drifted from the sources "
                               f"(tools/stage check --fix {chapter.number})\n    " + "\n    ".join(shown))
    except ToolError as error:
        findings.errors.append(f"chapters/{error}" if str(error).startswith(chapter.name) else str(error))
    words = readme.prose_words(path.read_text(encoding="utf-8"))
    if not WORDS[0] <= words <= WORDS[1]:
        findings.warning(chapter, f"README.md: {words:,} words of prose; meant are {WORDS[0]:,} to {WORDS[1]:,}")
    return written


def check(root, chapters, only=None, fix=False):
    """(findings, READMEs rewritten). `only` restricts what is reported to one chapter."""
    require_unique_numbers(chapters)
    chosen = [find_chapter(chapters, only)] if only else chapters
    findings = Findings()
    for stray in sorted((root / "chapters").iterdir()):
        if not any(stray == c.path for c in chapters) and not stray.name.startswith("."):
            findings.errors.append(f"chapters/{stray.name}: is no chapter (folders named NN-slug)")
    for chapter, error in check_same_cmake(chapters):
        if chapter in chosen:
            findings.error(chapter, error)
    if not fix and not readme.can_regenerate():
        findings.warnings.append("cogapp is not installed, so excerpts and tables in READMEs were not checked: pip install cogapp")
    seen = set()
    rewritten = []
    for before, chapter in zip([None] + chapters, chapters):
        errors, warnings = [], []
        try:
            chapter.toml
            marker_errors = check_markers(chapter, seen)
            errors, warnings = check_declaration(chapter)
            errors += check_difference(before, chapter) + marker_errors
        except ToolError as error:
            errors = [str(error).replace(f"{chapter.path}/", "")]
        if chapter not in chosen:
            continue
        for error in errors + check_layers(chapter) + check_names(chapter, chapters):
            findings.error(chapter, error)
        for warning in warnings:
            findings.warning(chapter, warning)
        if check_readme(chapter, findings, fix):
            rewritten.append(chapter)
    for name in files_changed_everywhere(chapters):
        findings.warnings.append(f"{name}: every chapter changes it, so every propagation of it conflicts")
    return findings, rewritten
