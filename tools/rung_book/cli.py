"""The command line of tools/book."""

import argparse
import functools
import http.server
import os
import sys
import time
from pathlib import Path

from rung_tools.chapter import chapters_of, find_chapter
from rung_tools.errors import ToolError


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ToolError(f"{message} (try: {self.prog} --help)")


def _parser():
    parser = _Parser(prog="tools/book", description="The book as a static site; tools/README.md explains it.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    build = commands.add_parser("build", help="build the site into the build folder")
    serve = commands.add_parser("serve", help="build it and serve it on this machine")
    for command in (build, serve):
        command.add_argument("--out", type=Path, metavar="DIR", help="where to work and build (default: build/book)")
    serve.add_argument("--port", type=int, default=8000)
    check = commands.add_parser("check", help="is every changed place shown in its chapter, or listed under not_shown?")
    check.add_argument("chapter", nargs="?", metavar="NN")
    record = commands.add_parser("record", help="record again what the interactive pages play")
    record.add_argument("what", choices=["scheduler", "attention"])
    return parser


def _build(root, arguments):
    from .packages import installed
    from .site import build

    build_folder = Path(os.environ.get("RUNG_BUILD_DIR") or Path(root) / "build")
    started = time.monotonic()
    folder = (arguments.out or build_folder / "book").resolve()
    out = build(root, folder, installed(build_folder.resolve()))
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{os.path.relpath(out)}/index.html: {pages} pages in {time.monotonic() - started:.0f} s")
    return out


def _check(root, wanted):
    from .coverage import check_chapter

    chapters = chapters_of(root)
    failed = 0
    for chapter in [find_chapter(chapters, wanted)] if wanted else chapters:
        errors, shown, total = check_chapter(chapters, chapter)
        for error in errors:
            print(f"error: chapters/{chapter.name}/{error}")
        print(f"{chapter.name}: {shown} of {total} changed places are in excerpts; {len(errors)} errors")
        failed += len(errors)
    return 1 if failed else 0


def _serve(folder, port):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        raise ToolError(f"port {port} cannot be used ({getattr(error, 'strerror', None) or error}); --port chooses another") from None
    with server:
        print(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)", flush=True)
        server.serve_forever()


def main(arguments, root):
    try:
        parsed = _parser().parse_args(arguments)
        if parsed.command == "check":
            return _check(root, parsed.chapter)
        if parsed.command == "record":
            from .record import record
            record(Path(root), parsed.what)
            return 0
        out = _build(root, parsed)
        if parsed.command == "serve":
            _serve(out, parsed.port)
        return 0
    except ToolError as error:
        print(f"tools/book: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"tools/book: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
