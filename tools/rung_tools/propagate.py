"""tools/stage propagate: carry an edit made in one chapter forward through all later ones.

The edit moves from neighbour to neighbour. With P the chapter before L, and HEAD the commit where the propagation started:
a file of L that equals P's at HEAD becomes a copy of P's as it is now; one that differs is merged three ways, base P's at HEAD,
theirs P's as it is now. So a conflict is resolved once, and the chapters behind take the resolution along.
"""

import json

from .chapter import OWN_FILES, find_chapter, previous_chapter
from .chapter_toml import FILE_LISTS, read_chapter_toml, set_file_lists
from .errors import ToolError
from .repository import Repository

STATE = "rung-propagate.json"
_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")


def _read(path):
    return path.read_bytes() if path.is_file() else None


def _write(path, data, mode_of=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if mode_of is not None and mode_of.is_file():
        path.chmod(mode_of.stat().st_mode & 0o777)


def _delete(path, stop_at):
    path.unlink()
    for parent in path.parents:
        if parent == stop_at or any(parent.iterdir()):
            break
        parent.rmdir()


def has_conflict_markers(data):
    return any(line.startswith(_MARKERS) for line in data.split(b"\n"))


class Propagation:
    def __init__(self, root, chapters, say=print):
        self.root = root
        self.chapters = chapters
        self.say = say
        self.repository = Repository(root)
        self.state_path = self.repository.state_path(STATE)

    def start(self, number):
        if self.state_path.exists():
            state = json.loads(self.state_path.read_text())
            raise ToolError(f"a propagation of {state['chapter']} waits for you: resolve {', '.join(state['conflicts'])}, "
                            "then tools/stage propagate --continue (or --abort to forget it)")
        chapter = find_chapter(self.chapters, number)
        head = self.repository.head()
        paths = [p for p in self.repository.changed_paths(head, f"chapters/{chapter.name}") if p not in OWN_FILES]
        paths = [p for p in paths if not any(part.startswith(".") or part in ("__pycache__", "build") for part in p.split("/"))]
        if not paths:
            raise ToolError(f"chapters/{chapter.name}: nothing differs from HEAD, so there is nothing to propagate")
        for path in paths:
            data = _read(chapter.path / path)
            if data is not None and has_conflict_markers(data):
                raise ToolError(f"chapters/{chapter.name}/{path}: holds conflict markers; resolve them first")
        state = {"chapter": chapter.name, "head": head, "paths": paths, "next": self._after(chapter), "conflicts": []}
        return self._run(state)

    def resume(self, number=None):
        if not self.state_path.exists():
            raise ToolError("no propagation waits to be continued")
        state = json.loads(self.state_path.read_text())
        if number is not None and find_chapter(self.chapters, number).name != state["chapter"]:
            raise ToolError(f"the propagation that waits is that of {state['chapter']}, not of {number}")
        for path in state["conflicts"]:
            data = _read(self.root / path)
            if data is not None and has_conflict_markers(data):
                raise ToolError(f"{path}: still holds conflict markers; resolve them, then --continue")
        state["conflicts"] = []
        return self._run(state)

    def abort(self):
        if not self.state_path.exists():
            raise ToolError("no propagation waits to be continued")
        self.state_path.unlink()
        self.say("forgotten; files stay as they are")

    def _after(self, chapter):
        names = [c.name for c in self.chapters]
        index = names.index(chapter.name) + 1
        return names[index] if index < len(names) else None

    def _run(self, state):
        """Goes on from chapter state["next"]. True when all is done, False when stopped by a conflict."""
        while state["next"] is not None:
            chapter = find_chapter(self.chapters, state["next"])
            before = previous_chapter(self.chapters, chapter)
            for path in state["paths"]:
                word, conflict = self._carry(state["head"], before, chapter, path)
                if word:
                    self.say(f"chapters/{chapter.name}/{path}: {word}")
                if conflict:
                    state["conflicts"].append(f"chapters/{chapter.name}/{path}")
            state["next"] = self._after(chapter)
            if state["conflicts"]:
                self.state_path.write_text(json.dumps(state, indent=1))
                self.say(f"stopped: resolve {', '.join(state['conflicts'])}, then run tools/stage propagate --continue")
                return False
        if self.state_path.exists():
            self.state_path.unlink()
        self._update_lists(state)
        return True

    def _carry(self, head, before, chapter, path):
        """(what was done, whether it is a conflict) for one path and one chapter."""
        base = self.repository.file_at(head, f"chapters/{before.name}/{path}")
        theirs = _read(before.path / path)
        target = chapter.path / path
        ours = _read(target)
        if base == theirs or ours == theirs:
            return (None, False) if base == theirs else ("already the same", False)
        if theirs is None:
            if ours == base:
                _delete(target, chapter.path)
                return "deleted", False
            return f"CONFLICT: deleted in {before.name}, but changed here; delete it or keep it", True
        if ours == base or (ours is None and base is None):
            _write(target, theirs, before.path / path)
            return ("added" if ours is None else "copied"), False
        if ours is None:
            return f"stays removed (its edit ends in {before.name})", False
        try:
            merged, conflicts = self.repository.merge(
                ours, base or b"", theirs,
                (f"chapters/{chapter.name}/{path}", f"{before.name} at HEAD", f"chapters/{before.name}/{path} (edited)"))
        except ToolError:
            return f"CONFLICT: binary and different from {before.name}'s; put the right file there", True
        _write(target, merged)
        if conflicts:
            return f"CONFLICT: {conflicts} place{'s' if conflicts > 1 else ''} to resolve", True
        return "merged", False

    def _update_lists(self, state):
        """Sets where the propagated paths, and only they, stand in the lists of chapter.toml."""
        first = [c.name for c in self.chapters].index(state["chapter"])
        before = self.chapters[first - 1] if first else None
        for chapter in self.chapters[first:]:
            toml_path = chapter.path / "chapter.toml"
            if toml_path.is_file():
                lists = read_chapter_toml(toml_path)
                listed = {key: list(lists.get(key, [])) for key in FILE_LISTS}
                changes = []
                for path in state["paths"]:
                    if path == "CMakeLists.txt":
                        continue
                    old = _read(before.path / path) if before else None
                    new = _read(chapter.path / path)
                    right = None
                    if old != new:
                        right = "adds" if old is None else "removes" if new is None else "changes"
                    for key in FILE_LISTS:
                        if key == right and path not in listed[key]:
                            listed[key].append(path)
                            changes.append(f"{key} + {path}")
                        elif key != right and path in listed[key]:
                            listed[key].remove(path)
                            changes.append(f"{key} - {path}")
                if changes:
                    text = toml_path.read_text(encoding="utf-8")
                    toml_path.write_text(set_file_lists(text, listed), encoding="utf-8")
                    self.say(f"chapters/{chapter.name}/chapter.toml: {', '.join(changes)}")
            before = chapter
