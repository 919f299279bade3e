"""What a student hands in: a folder or a zip file. Only sources are read, into memory; nothing that it names is ever written to disk
by its own path, no link is followed, and sizes are limited before they are believed."""

import os
import re
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .chapter import STUDENT_FOLDERS
from .errors import ToolError

MOST_FILES, MOST_BYTES, MOST_BYTES_OF_FILE = 1000, 16 << 20, 2 << 20
MOST_ENTRIES = 100_000
_PART = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}")
_CHAPTER = re.compile(r"(?:^|/)(\d\d-[a-z0-9-]+)/(?:" + "|".join(STUDENT_FOLDERS) + ")")


@dataclass
class Submission:
    name: str
    files: dict  # "src/ops/rms_norm.cu" -> bytes


class _Collected:
    def __init__(self, source):
        self.source, self.files, self.bytes = source, {}, 0

    def add(self, name, data):
        if not all(_PART.fullmatch(part) for part in name.split("/")):
            raise ToolError(f"{self.source}: {name!r} is no name for a source file")
        if name in self.files:
            raise ToolError(f"{self.source}: {name} is in it twice")
        self.files[name] = data
        self.bytes += len(data)
        if len(self.files) > MOST_FILES or self.bytes > MOST_BYTES:
            raise ToolError(f"{self.source}: more than {MOST_FILES} source files or {MOST_BYTES >> 20} MB; is a build folder among them?")


def read_submission(path, wanted=None):
    """(Submission, name of its chapter). `wanted` is a chapter's name such as 06-rms-norm; without it the newest one in there is taken."""
    path = Path(path)
    try:
        if path.is_file():
            return _from_zip(path, wanted)
        if path.is_dir():
            return _from_folder(path, wanted)
    except OSError as error:
        raise ToolError(f"{path}: cannot be read: {error.strerror}") from None
    raise ToolError(f"{path}: no such folder or zip file")


def _choose(source, prefixes, wanted):
    """The prefix below which the sources stand, of {chapter name or None: prefixes}."""
    if wanted is None:
        named = sorted(name for name in prefixes if name)
        if not named:
            raise ToolError(f"{source}: no chapters/NN-…/src in it that says which chapter this is; give --chapter NN")
        wanted = named[-1]
    found = prefixes.get(wanted) or prefixes.get(None)
    if not found:
        there = ", ".join(sorted(name for name in prefixes if name)) or "no src/ at all"
        raise ToolError(f"{source}: holds no sources of {wanted}; it holds {there}")
    return min(found, key=lambda p: (p.count("/"), p)), wanted


def _from_folder(path, wanted):
    prefixes = {}
    if (path / "src").is_dir():
        name = path.resolve().name
        prefixes.setdefault(name if re.fullmatch(r"\d\d-[a-z0-9-]+", name) else None, set()).add("")
    if (path / "chapters").is_dir():
        for chapter in sorted((path / "chapters").iterdir()):
            if chapter.is_dir() and (chapter / "src").is_dir():
                prefixes.setdefault(chapter.name, set()).add(f"chapters/{chapter.name}/")
    prefix, chapter = _choose(path, prefixes, wanted)
    collected = _Collected(path)
    for folder in STUDENT_FOLDERS:
        _walk(path / prefix, folder.rstrip("/"), collected)
    return Submission(path.resolve().name, collected.files), chapter


def _walk(base, relative, collected):
    place = base / relative
    if place.is_symlink():
        raise ToolError(f"{place}: is a link; a submission holds files only")
    if not place.is_dir():
        return
    with os.scandir(place) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            name = f"{relative}/{entry.name}"
            if entry.is_symlink():
                raise ToolError(f"{base / name}: is a link; a submission holds files only")
            if entry.name.startswith(".") or entry.name.endswith("~"):
                continue
            if entry.is_dir(follow_symlinks=False):
                _walk(base, name, collected)
            elif entry.is_file(follow_symlinks=False):
                with open(entry.path, "rb") as source:
                    data = source.read(MOST_BYTES_OF_FILE + 1)
                if len(data) > MOST_BYTES_OF_FILE:
                    raise ToolError(f"{base / name}: has more than {MOST_BYTES_OF_FILE >> 20} MB; that is no source file")
                collected.add(name, data)


def _from_zip(path, wanted):
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise ToolError(f"{path}: has {len(entries)} entries, more than {MOST_ENTRIES}")
            for entry in entries:
                name = entry.filename
                if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name):
                    raise ToolError(f"{path}: its entry {name!r} leads outside the archive; it is not read")
            sources = [e for e in entries if not e.is_dir() and not e.filename.startswith("__MACOSX/")]
            prefixes = {}
            for entry in sources:
                found = _CHAPTER.search(entry.filename)
                if found:
                    prefixes.setdefault(found.group(1), set()).add(entry.filename[: found.end(1) + 1])
                else:
                    parts = entry.filename.split("/")
                    if "src" in parts[:-1] and parts.index("src") <= 2:
                        prefixes.setdefault(None, set()).add("".join(p + "/" for p in parts[: parts.index("src")]))
            prefix, chapter = _choose(path, prefixes, wanted)
            collected = _Collected(path)
            for entry in sources:
                name = entry.filename[len(prefix):]
                if not entry.filename.startswith(prefix) or not name.startswith(STUDENT_FOLDERS) or name.split("/")[-1].startswith("."):
                    continue
                if stat.S_ISLNK(entry.external_attr >> 16):
                    raise ToolError(f"{path}: its entry {entry.filename!r} is a link; a submission holds files only")
                with archive.open(entry) as source:
                    data = source.read(MOST_BYTES_OF_FILE + 1)
                if len(data) > MOST_BYTES_OF_FILE:
                    raise ToolError(f"{path}: {name} has more than {MOST_BYTES_OF_FILE >> 20} MB; that is no source file")
                collected.add(name, data)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise ToolError(f"{path}: not a zip file that can be read: {error}") from None
    except Exception as error:
        if type(error).__module__ == "zlib":
            raise ToolError(f"{path}: a damaged zip file: {error}") from None
        raise
    return Submission(path.name.removesuffix(".zip"), collected.files), chapter
