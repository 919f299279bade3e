"""tools/stage check --outputs: rerun the commands that READMEs quote and compare what they print."""

import difflib
import os
import signal
import subprocess
import sys

from .console_blocks import quoted_commands
from .errors import ToolError
from .output_match import mask, matches, rewritten, trim

TIMEOUT_S = 600


def run_command(command, root, timeout=TIMEOUT_S):
    """What the command prints, as lines: stdout, and stderr after it when it fails or prints nothing on stdout."""
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="100", TERM="dumb", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", RUNG_QUIET="1")
    process = subprocess.Popen(["bash", "-c", command], cwd=root, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise ToolError(f"'{command}' did not end within {timeout} s") from None
    if process.returncode != 0 or not out.strip():
        out = out + err
    return trim(out.decode("utf-8", "replace").split("\n"))


class Summary:
    def __init__(self):
        self.rerun = self.drifted = self.fixed = self.not_rerun = 0


def front_matter(root):
    """The pages outside the chapters that quote commands too."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def check_outputs(root, pages, fix=False, show=print):
    """Reruns and compares the commands quoted in these files (those that exist); drift goes to `show`. Returns a Summary."""
    summary = Summary()
    known = {}
    for path in pages:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        # From the end, so that the line numbers of what is still to do stay right while lines are replaced.
        for quoted in reversed(quoted_commands(text)):
            if not quoted.rerun:
                summary.not_rerun += 1
                continue
            summary.rerun += 1
            where = f"{path.relative_to(root)}:{quoted.line + 1}"
            if sys.stderr.isatty():
                print(f"\r\033[K{where}: {quoted.command.splitlines()[0][:90]}", end="", file=sys.stderr, flush=True)
            try:
                if quoted.command not in known:
                    known[quoted.command] = run_command(quoted.command, root)
                real = known[quoted.command]
            except ToolError as error:
                summary.drifted += 1
                show(f"{where}: {error}")
                continue
            finally:
                if sys.stderr.isatty():
                    print("\r\033[K", end="", file=sys.stderr, flush=True)
            if matches(quoted.output, real, quoted.recorded):
                continue
            new = rewritten(quoted.output, real) if fix else None
            if fix and new is not None:
                lines[quoted.first: quoted.last] = new
                summary.fixed += 1
                continue
            summary.drifted += 1
            form = mask if quoted.recorded else (lambda line: line)
            kind = "the form of the recorded output" if quoted.recorded else "the output"
            show(f"{where}: {kind} of '{quoted.command}' drifted"
                 + ("; its cuts (…) cannot be placed, rewrite it by hand" if fix else ""))
            for line in difflib.unified_diff([form(l) for l in trim(quoted.output)], [form(l) for l in real],
                                             "quoted", "printed now", lineterm=""):
                show("    " + line)
        if summary.fixed and "\n".join(lines) != text:
            path.write_text("\n".join(lines), encoding="utf-8")
    return summary
