"""The command line of tools/grade."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from rung_build import gpu_answers

from .chapter import chapters_of, find_chapter
from .errors import ToolError
from .grade import Grader, Hidden
from .grade_report import as_json, class_csv, formatted, table
from .submission import read_submission
from .working_copy import is_working_copy


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ToolError(f"{message} (try: {self.prog} --help)")


def _parser():
    parser = _Parser(prog="tools/grade", description="Grades the exercises of a chapter; docs/teaching.md explains it.")
    parser.add_argument("submission", nargs="?", metavar="DIR", help="a working copy, a chapter's folder, or a zip file of either")
    parser.add_argument("--root", type=Path, help="where the chapter's own tests and build files are taken from (default: beside this script)")
    parser.add_argument("--chapter", metavar="NN", help="which chapter (default: the newest one in the submission)")
    parser.add_argument("--hidden", type=Path, metavar="FOLDER", help="further tests, with hidden.toml, from outside the repository")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--sanitize", choices=["address", "thread"], help="build and grade under a sanitizer: its reports fail a test")
    kind.add_argument("--gpu", action="store_true", help="build with nvcc and run on a GPU, nothing emulated")
    parser.add_argument("--isolate", action="store_true",
                        help="try a task that fails once more among the book's solutions of the others, so that a mistake costs one task's points")
    parser.add_argument("--json", metavar="FILE", help="also write the grade as JSON; - for stdout instead of the table")
    parser.add_argument("--format", choices=["gradescope", "github-classroom", "junit"], help="print this instead of the table")
    parser.add_argument("--class", dest="class_folder", type=Path, metavar="DIR", help="grade every folder and zip file in DIR")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="with --class: one row a submission")
    parser.add_argument("--feedback", type=Path, metavar="DIR", help="with --class: one text file a submission, to hand back")
    parser.add_argument("--prove", nargs="*", metavar="NN", help="prove the exercises themselves: stubs, references, known-wrong solutions")
    less = parser.add_mutually_exclusive_group()
    less.add_argument("--static", action="store_true", help="with --prove: only what needs no build")
    less.add_argument("--skeletons", action="store_true", help="with --prove: stubs and references, without the known-wrong solutions")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    return parser


def _write(path, text):
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ToolError(f"{path}: cannot be written: {error.strerror}") from None


def _grader(root, chapters, name, options, say):
    if name not in [c.name for c in chapters]:
        raise ToolError(f"there is no chapter {name}; there are: {' '.join(c.number for c in chapters)}")
    hidden = Hidden(options.hidden) if options.hidden else None
    return Grader(root, find_chapter(chapters, name), hidden, options.sanitize, options.gpu, say)


def _class(root, chapters, options, wanted, say):
    if wanted is None:
        raise ToolError("--class needs --chapter NN: a class is graded on one chapter")
    if options.csv is None:
        raise ToolError("--class needs --csv OUT")
    if not options.class_folder.is_dir():
        raise ToolError(f"{options.class_folder}: no such folder")
    handed_in = sorted(p for p in options.class_folder.iterdir() if not p.name.startswith(".") and (p.is_dir() or p.suffix.lower() == ".zip"))
    if not handed_in:
        raise ToolError(f"{options.class_folder}: holds no folders and no zip files")
    grader = _grader(root, chapters, wanted, options, say)
    if options.feedback:
        options.feedback.mkdir(parents=True, exist_ok=True)
    grades = []
    for path in handed_in:
        say(path.name)
        try:
            grade = grader.grade(read_submission(path, wanted)[0], isolate=options.isolate)
        except ToolError as error:
            grade = grader.refused(path.name.removesuffix(".zip"), str(error))
        grades.append(grade)
        print(f"{grade.submission}: {grade.earned} of {grade.possible} points" + (f" ({grade.build})" if grade.build != "ok" else ""), flush=True)
        if options.feedback:
            _write(options.feedback / f"{grade.submission}.txt", table(grade) + "\n")
        _write(options.csv, class_csv(grades))  # after each, so that an interruption loses nothing
    if options.json:
        _write(options.json, json.dumps([as_json(g) for g in grades], indent=2, ensure_ascii=False) + "\n")
    print(f"{options.csv}: {len(grades)} submissions")
    return 0


def main(arguments, default_root):
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that nothing it started stays behind
    try:
        options = _parser().parse_args(arguments)
        root = Path(os.path.abspath(options.root or default_root))
        chapters = chapters_of(root)
        say = (lambda text: None) if options.quiet else lambda text: print(text, file=sys.stderr, flush=True)
        if options.gpu and not gpu_answers():
            raise ToolError("--gpu: this machine has no nvcc with a GPU that works")
        if options.prove is not None:
            from .prove import prove

            numbers = options.prove + ([options.submission] if options.submission else [])
            return prove(root, chapters, numbers, options.static, options.skeletons, say)
        if options.isolate and is_working_copy(root):
            raise ToolError("--isolate needs the whole repository: a working copy holds no solutions")
        wanted = find_chapter(chapters, options.chapter).name if options.chapter else None
        if options.class_folder:
            return _class(root, chapters, options, wanted, say)
        if not options.submission:
            raise ToolError("nothing to grade: give a working copy, a chapter's folder or a zip file (try: tools/grade --help)")
        submission, name = read_submission(options.submission, wanted)
        grade = _grader(root, chapters, name, options, say).grade(submission, isolate=options.isolate)
        if options.format:
            print(formatted(grade, options.format), end="")
        elif options.json != "-":
            print(table(grade))
        if options.json:
            text = json.dumps(as_json(grade), indent=2, ensure_ascii=False) + "\n"
            print(text, end="") if options.json == "-" else _write(options.json, text)
        return 0
    except ToolError as error:
        print(f"tools/grade: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"tools/grade: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
