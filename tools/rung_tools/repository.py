"""The few questions that the tools ask git."""

import subprocess
import tempfile
from pathlib import Path

from .errors import ToolError


class Repository:
    def __init__(self, root):
        self.root = root

    def git(self, *arguments, check=True):
        try:
            done = subprocess.run(["git", *arguments], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except FileNotFoundError:
            raise ToolError("git is not installed") from None
        if check and done.returncode != 0:
            message = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            raise ToolError(f"git {arguments[0]}: {message}")
        return done

    def head(self):
        done = self.git("rev-parse", "--verify", "--quiet", "HEAD", check=False)
        if done.returncode != 0:
            raise ToolError(f"{self.root}: not a git repository with a commit; propagate compares with HEAD")
        return done.stdout.decode().strip()

    def state_path(self, name):
        """A path inside .git (of this worktree) for a file of the tools."""
        return self.root / self.git("rev-parse", "--git-path", name).stdout.decode().strip()

    def file_at(self, commit, path):
        """The file's bytes in a commit, None when it is not there. `path` is relative to root."""
        done = self.git("cat-file", "blob", f"{commit}:./{path}", check=False)
        return done.stdout if done.returncode == 0 else None

    def changed_paths(self, commit, folder):
        """Paths below folder (relative to it) that differ between the commit and the files as they are; ignored files are left out."""
        tracked = self.git("diff", "--name-only", "--no-renames", "--relative", "-z", commit, "--", folder).stdout
        untracked = self.git("ls-files", "--others", "--exclude-standard", "-z", "--", folder).stdout
        names = {n.decode() for n in (tracked + untracked).split(b"\0") if n}
        return sorted(n.removeprefix(folder + "/") for n in names)

    def merge(self, ours, base, theirs, labels):
        """(merged bytes, number of conflicts), by git merge-file; a binary file raises ToolError."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
                path = Path(folder) / name
                path.write_bytes(data)
                paths.append(str(path))
            options = [o for label in labels for o in ("-L", label)]
            done = self.git("merge-file", "-p", "--diff3", *options, *paths, check=False)
        if done.returncode < 0 or done.returncode > 127:
            raise ToolError(done.stderr.decode("utf-8", "replace").strip().split("\n")[0])
        return done.stdout, done.returncode
