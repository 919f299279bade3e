"""The command line of tools/stage."""

import argparse
import os
import sys
import time
from pathlib import Path

from .chapter import chapters_of, difference, find_chapter, previous_chapter
from .errors import ToolError


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ToolError(f"{message} (try: {self.prog} --help)")


def _parser():
    parser = _Parser(prog="tools/stage", description="Looks after the chain of chapters; tools/README.md explains it.")
    parser.add_argument("--root", type=Path, help="the repository (default: the one that this script stands in)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="the chapters, their exercises and points")
    check = commands.add_parser("check", help="is the chain sound?")
    check.add_argument("chapter", nargs="?", metavar="NN", help="only this chapter")
    check.add_argument("--fix", action="store_true", help="rewrite the generated parts of READMEs (with --outputs: the quoted outputs)")
    check.add_argument("--outputs", action="store_true", help="rerun the commands quoted in READMEs")
    diff = commands.add_parser("diff", help="what a stage changed")
    diff.add_argument("a", metavar="A")
    diff.add_argument("b", metavar="B")
    diff.add_argument("path", nargs="?", metavar="PATH", help="one file or folder of the chapter, such as src/ops")
    form = diff.add_mutually_exclusive_group()
    form.add_argument("--stat", action="store_true", help="a table instead of the lines")
    form.add_argument("--html", type=Path, metavar="FILE", help="write one self-contained page")
    propagate = commands.add_parser("propagate", help="carry an edit of a chapter into all later ones")
    propagate.add_argument("chapter", nargs="?", metavar="NN")
    state = propagate.add_mutually_exclusive_group()
    state.add_argument("--continue", dest="resume", action="store_true", help="go on after a conflict is resolved")
    state.add_argument("--abort", action="store_true", help="forget a propagation that waits; files stay as they are")
    start = commands.add_parser("start", help="a working copy of a chapter, with holes where its exercises are")
    start.add_argument("chapter", metavar="NN")
    start.add_argument("folder", metavar="DIR", help="a new folder, or a working copy to add the chapter to")
    start.add_argument("--on", metavar="DIR", help="go on from this solution of the chapter before instead of the book's")
    reset = commands.add_parser("reset", help="put a task's stub back, or a whole chapter's; what stood there is kept")
    reset.add_argument("what", metavar="NN[.k]")
    reset.add_argument("folder", metavar="DIR", nargs="?", default=".", help="the working copy (default: this folder)")
    for name, help in (("hint", "a task's hint, its file and the section to read"), ("solution", "the difference between a task's stub and its solution")):
        commands.add_parser(name, help=help).add_argument("task", metavar="NN.k")
    export = commands.add_parser("export", help="a zip file to hand out: a working copy without solutions or later chapters")
    export.add_argument("chapter", metavar="NN")
    export.add_argument("--zip", required=True, metavar="FILE")
    return parser


def _working_copy(root, chapters, arguments):
    from . import working_copy

    if arguments.command == "start":
        working_copy.start(root, chapters, arguments.chapter, arguments.folder, arguments.on)
    elif arguments.command == "reset":
        working_copy.reset(root, chapters, arguments.what, arguments.folder)
    elif arguments.command == "hint":
        working_copy.hint(chapters, arguments.task)
    elif arguments.command == "solution":
        working_copy.solution(root, chapters, arguments.task)
    else:
        working_copy.export(root, chapters, arguments.chapter, arguments.zip)
    return 0


def _list(chapters):
    rows = [("", "chapter", "exercises", "points", "files +/~/-", "title")]
    for chapter in chapters:
        try:
            exercises = chapter.toml.get("exercises", [])
        except ToolError:
            exercises = []
        points = sum(e.get("points", 0) for e in exercises)
        real = difference(previous_chapter(chapters, chapter), chapter)
        files = "/".join(str(len(real[k])) for k in ("adds", "changes", "removes"))
        rows.append((chapter.number, chapter.slug, str(len(exercises)), str(points), files, chapter.title))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        cells = [f"{row[i]:>{widths[i]}}" if i in (2, 3, 4) else f"{row[i]:<{widths[i]}}" for i in range(5)]
        print("  ".join(cells + [row[5]]).rstrip())
    return 0


def _check(root, chapters, arguments):
    if arguments.outputs:
        from .outputs import check_outputs, front_matter

        chosen = [find_chapter(chapters, arguments.chapter)] if arguments.chapter else chapters
        pages = [chapter.path / "README.md" for chapter in chosen]
        summary = check_outputs(root, pages if arguments.chapter else front_matter(root) + pages, arguments.fix)
        print(f"{summary.rerun} quoted commands rerun, {summary.fixed} rewritten, {summary.drifted} drifted, {summary.not_rerun} not rerun")
        return 1 if summary.drifted else 0
    from .check import check

    started = time.monotonic()
    findings, rewritten = check(root, chapters, arguments.chapter, arguments.fix)
    for chapter in rewritten:
        print(f"chapters/{chapter.name}/README.md: rewritten")
    for warning in findings.warnings:
        print(f"warning: {warning}")
    for error in findings.errors:
        print(f"error: {error}")
    count = 1 if arguments.chapter else len(chapters)
    print(f"{count} chapter{'s' * (count != 1)} checked in {time.monotonic() - started:.1f} s: "
          f"{len(findings.errors)} errors, {len(findings.warnings)} warnings")
    return 1 if findings.errors else 0


def _diff(chapters, arguments):
    from .diff import file_diffs, stat_table, unified
    from .html_diff import html_page

    a, b = find_chapter(chapters, arguments.a), find_chapter(chapters, arguments.b)
    diffs = file_diffs(a, b, arguments.path)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    if arguments.html:
        try:
            arguments.html.write_text(html_page(a, b, diffs), encoding="utf-8")
        except OSError as error:
            raise ToolError(f"{arguments.html}: cannot be written: {error.strerror}") from None
        print(f"{arguments.html}: {len(diffs)} files")
        return 0
    for line in stat_table(diffs, colour) if arguments.stat else unified(a, b, diffs, colour):
        print(line)
    return 0


def _propagate(root, chapters, arguments):
    from .propagate import Propagation

    propagation = Propagation(root, chapters)
    if arguments.abort:
        propagation.abort()
        return 0
    if arguments.resume:
        return 0 if propagation.resume(arguments.chapter) else 1
    if arguments.chapter is None:
        raise ToolError("propagate needs the number of the chapter that was edited, or --continue")
    return 0 if propagation.start(arguments.chapter) else 1


def main(arguments, default_root):
    try:
        parsed = _parser().parse_args(arguments)
        root = Path(os.path.abspath(parsed.root or default_root))
        chapters = chapters_of(root)
        if parsed.command == "list":
            return _list(chapters)
        if parsed.command == "diff":
            return _diff(chapters, parsed)
        if parsed.command in ("start", "reset", "hint", "solution", "export"):
            return _working_copy(root, chapters, parsed)
        return {"check": _check, "propagate": _propagate}[parsed.command](root, chapters, parsed)
    except ToolError as error:
        print(f"tools/stage: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"tools/stage: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
