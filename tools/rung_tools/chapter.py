"""A chapter as the tools see it: its number, its folder, its files and its chapter.toml."""

import functools
import re
from pathlib import Path

from .chapter_toml import read_chapter_toml
from .errors import ToolError

# These belong to one chapter alone (or, CMakeLists.txt, to all alike) and are never listed in chapter.toml.
OWN_FILES = ("README.md", "chapter.toml")
UNLISTED_FILES = OWN_FILES + ("CMakeLists.txt",)
CODE_SUFFIXES = (".h", ".cpp", ".cu", ".cuh")
# What a student writes; all else is the chapter's own.
STUDENT_FOLDERS = ("src/", "bench/")

_NAME = re.compile(r"(\d\d)-([a-z0-9]+(?:-[a-z0-9]+)*)")


class Chapter:
    def __init__(self, path):
        self.path = Path(path)
        self.name = self.path.name
        self.number, self.slug = _NAME.fullmatch(self.name).groups()

    def __repr__(self):
        return f"Chapter({self.name})"

    @functools.cached_property
    def files(self):
        """Relative path -> bytes of every file of the chapter; build folders, hidden files and caches are no part of it."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            relative = path.relative_to(self.path)
            if any(p.startswith(".") or p in ("__pycache__", "build") for p in relative.parts):
                continue
            if path.is_file():
                found[relative.as_posix()] = path.read_bytes()
        return found

    @functools.cached_property
    def listed_files(self):
        """The files that the chain compares: all but README.md, chapter.toml and CMakeLists.txt."""
        return {name: data for name, data in self.files.items() if name not in UNLISTED_FILES}

    @functools.cached_property
    def toml(self):
        return read_chapter_toml(self.path / "chapter.toml")

    @property
    def title(self):
        try:
            return str(self.toml.get("title", ""))
        except ToolError:
            return ""

    def code(self, name):
        return self.files[name].decode("utf-8", "replace")


def chapters_of(root):
    """All chapters below root/chapters in order of their numbers; numbers may have gaps."""
    folder = Path(root) / "chapters"
    if not folder.is_dir():
        raise ToolError(f"{folder}: no such folder; run this inside a checkout of Rung")
    found = [Chapter(p) for p in sorted(folder.iterdir()) if p.is_dir() and _NAME.fullmatch(p.name)]
    if not found:
        raise ToolError(f"{folder}: no chapter (a folder named NN-slug) in it")
    return found


def find_chapter(chapters, wanted):
    """The chapter with this number (7 or 07) or name (07-matmul)."""
    text = str(wanted).rstrip("/").rsplit("/", 1)[-1]
    for chapter in chapters:
        if text in (chapter.name, chapter.slug) or (text.isdigit() and int(text) == int(chapter.number)):
            return chapter
    numbers = " ".join(c.number for c in chapters)
    raise ToolError(f"no chapter {wanted}; there are: {numbers}")


def previous_chapter(chapters, chapter):
    """The chapter before this one in the chain, None for the first."""
    index = [c.name for c in chapters].index(chapter.name)
    return chapters[index - 1] if index else None


def difference(before, after):
    """adds, changes and removes between two chapters (before None: everything is added), as chapter.toml lists them."""
    old = before.listed_files if before else {}
    new = after.listed_files
    return {
        "adds": sorted(n for n in new if n not in old),
        "changes": sorted(n for n in new if n in old and new[n] != old[n]),
        "removes": sorted(n for n in old if n not in new),
    }
