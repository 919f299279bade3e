"""Builds and runs the tests: those of each chapter, of common/ and the emulator, of the tools, and the chain's own check.

Called by test.sh, which installs what this needs. Whatever one part does wrong (it does not build, crashes, hangs), the others still run.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from rung_build import ROOT, Build, BuildError, build_folder, relevant  # noqa: E402

COGAPP = "cogapp==3.6.1"
MODEL = ROOT / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
LIMIT_S = 900  # for one test program; twice as much under a sanitizer


class Suite:
    def __init__(self, options):
        self.options = options
        self.passed = self.failed = self.skipped = 0
        self.builds = Build("gpu" if options.gpu else options.sanitize or "test", options.define)
        self.folder = self.builds.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = dict(os.environ, RUNG_FIXTURES=str(ROOT / "tests" / "fixtures"), RUNG_BUILD_DIR=str(build_folder()))

    def say(self, text):
        print(text, flush=True)

    def fail(self, what, output=""):
        self.failed += 1
        self.say(f"FAILED: {what}")
        if output.strip():
            self.say("\n".join(output.rstrip().splitlines()[-60:]))

    def run(self, arguments, environment=None, folder=ROOT, limit=LIMIT_S):
        """(status, what it printed); status is None when it ran past the limit."""
        process = subprocess.Popen(arguments, cwd=folder, env=environment or self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, status = process.communicate(timeout=limit)[0], process.returncode
        except subprocess.TimeoutExpired as late:
            output, status = late.stdout or b"", None
        finally:
            if process.poll() is None:  # too late, or Ctrl-C: what the program started goes too
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return status, output.decode("utf-8", "replace")

    def build(self, name, source, extra=(), targets=("all",)):
        """The folder of the objects; None when it does not build, which is then counted and shown."""
        try:
            return self.builds.build(name, source, targets, extra)
        except BuildError as error:
            self.fail(str(error), relevant(error.output, 60))
        return None

    def run_catch(self, program, what, environment=None, files=()):
        """Runs a Catch2 program, or its tests from these files, and adds its test cases to the counts."""
        report = self.folder / f"{what}.xml"
        report.unlink(missing_ok=True)
        wanted = ["~[.]"] + ([] if self.options.gpu else ["~[gpu]"])
        if not MODEL.exists() or self.options.sanitize == "thread":  # which takes its time, and small models race as well
            wanted.append("~[model]")
        if not (ROOT / "models" / "vocabularies").exists():
            wanted.append("~[vocabularies]")
        if self.options.check and "~[model]" not in wanted:
            wanted.append("~[model]")
        if self.options.sanitize or self.options.check:
            wanted.append("~[slow]")
        expression = ",".join("".join(wanted) + tag for tag in [f"[#{file}]" for file in files] or [""])
        environment = dict(self.environment, **(environment or {}))
        by_file = ["-#"] if files else []
        limit = LIMIT_S * (2 if self.options.sanitize or self.options.check else 1)
        status, output = self.run([*self.checker(), program, expression, "-r", "xml", "-o", report, *by_file], environment, self.folder, limit)
        if status is None:
            return self.fail(f"{what}: the tests ran for over {limit // 60} minutes", output)
        total = 0 if files else self.count_cases(program, environment)
        try:
            cases = ElementTree.parse(report).getroot().iter("TestCase")
            results = [(case.get("name"), case.find("OverallResult")) for case in cases]
        except (ElementTree.ParseError, FileNotFoundError):
            return self.fail(f"{what}: the test program ended with status {status} before its report was complete", output)
        bad = [name for name, verdict in results if verdict is None or verdict.get("success") != "true"]
        self.passed += len(results) - len(bad)
        self.skipped += max(0, total - len(results))
        for name in bad:
            escaped = re.sub(r'([,\[\]\\*"])', r"\\\1", name)
            _, again = self.run([program, escaped], environment, self.folder)
            self.fail(f"{what}: {name}", again)
        if not bad and status != 0:
            self.fail(f"{what}: all test cases passed, but the program ended with status {status}", output)
        elif output.strip():
            self.say(output.rstrip())
        return None

    def checker(self):
        """What a test program runs under with --check: NVIDIA's compute-sanitizer, which ends with status 9 if it found something."""
        if not self.options.check:
            return []
        leaks = ["--leak-check", "full"] if self.options.check == "memcheck" else []
        return ["compute-sanitizer", "--tool", self.options.check, *leaks, "--error-exitcode", "9", "--print-limit", "20"]

    def count_cases(self, program, environment):
        """How many test cases the program holds, hidden ones left out."""
        _, listed = self.run([program, "--list-test-names-only", "~[.]"], environment)
        if "nrecognised token" in listed:  # Catch2 3
            _, listed = self.run([program, "--list-tests", "--verbosity", "quiet", "~[.]"], environment)
        return len([line for line in listed.splitlines() if line.strip()])

    def chapter(self, chapter, *files):
        name = chapter.name
        if self.options.check:
            files = kernel_tests(chapter)
            if not files:
                return
        started = time.monotonic()
        objects = self.build(name, chapter, targets=["tests"] if files else ["all"])  # tests of operations run no program
        built = time.monotonic()
        before = self.passed
        if objects and self.options.build_only:
            self.passed += 1
        elif objects:
            self.run_catch(objects / "tests", name, {"RUNG_PROGRAM": str(objects / "rung")}, files)
        self.say(f"{name}: {self.passed - before} passed; build {built - started:.0f} s, tests {time.monotonic() - built:.0f} s")

    def common(self):
        started = time.monotonic()
        objects = self.build("common", ROOT, ["-DRUNG_CHAPTERS=none"])
        before = self.passed
        for program, what in (("rung_common_tests", "common"), ("rung_simt_tests", "emulator"), ("rung_simt_planted", "planted bugs")):
            found = next(objects.glob(f"**/{program}"), None) if objects and not self.options.build_only else None
            if found:
                self.run_catch(found, what)
        self.say(f"common: {self.passed - before} passed; {time.monotonic() - started:.0f} s")

    def python_tests(self):
        """Tests of the tools and of the whole repository, each a file tests/*/test_*.py for unittest."""
        for folder in sorted({path.parent for path in (ROOT / "tests").glob("*/test_*.py")}):
            started = time.monotonic()
            what = f"tests/{folder.name}"
            status, output = self.run([sys.executable, "-m", "unittest", "discover", "-s", str(folder)])
            ran = re.search(r"^Ran (\d+) tests?", output, re.M)
            count = int(ran.group(1)) if ran else 0
            last = (output.rstrip().splitlines() or [""])[-1]
            bad = sum(int(number) for number in re.findall(r"(?:failures|errors|unexpected successes)=(\d+)", last))
            skipped = sum(int(number) for number in re.findall(r"skipped=(\d+)", last))
            if status != 0 or count == 0:
                bad = max(bad, 1)
                self.fail(what if status is not None else f"{what}: ran for over {LIMIT_S // 60} minutes", output)
                self.failed += bad - 1
            self.passed += max(0, count - bad - skipped)
            self.skipped += skipped
            self.say(f"{what}: {count} run; {time.monotonic() - started:.0f} s")

    def install_python(self):
        """cogapp, beside the builds: tools/stage check needs it."""
        target = build_folder() / "python"
        if not (target / "cogapp").exists():
            if os.environ.get("RUNG_NO_INSTALL") == "1":
                self.say("cogapp is missing (RUNG_NO_INSTALL=1): README excerpts cannot be checked")
                return
            status, output = self.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(target), COGAPP])
            if status != 0:
                self.fail(f"pip install {COGAPP}", output)
        self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(target), self.environment.get("PYTHONPATH")]))

    def stage(self, arguments):
        started = time.monotonic()
        what = "tools/stage " + " ".join(arguments)
        status, output = self.run([sys.executable, str(ROOT / "tools" / "stage"), *arguments], limit=2 * LIMIT_S)
        if status == 0:
            self.passed += 1
        else:
            self.fail(what, output)
        self.say(f"{what}: {time.monotonic() - started:.0f} s")

    def part(self, function, *arguments):
        """Runs one part; what it raises is its own failure and does not end the others."""
        try:
            function(*arguments)
        except (OSError, subprocess.SubprocessError) as error:
            self.fail(f"{' '.join(str(getattr(a, 'name', a)) for a in arguments) or function.__name__}: {error}")


def kernel_tests(chapter):
    """The chapter's test files (without .cpp) of single operations and device memory: those that include a header of them."""
    wanted = re.compile(r'^#include "(ops/|tensor/device_tensor\.h|tensor/staged_integers\.h)', re.M)
    return sorted(path.stem for path in chapter.glob("tests/*.cpp") if wanted.search(path.read_text()))


def sources(chapter):
    """The chapter's kernels and parsers: path inside of it → content."""
    wanted = [path for pattern in ("src/**/*.cu", "src/**/*.cuh", "src/tensor/*", "src/model_file/*", "src/tokenizer/*")
              for path in chapter.glob(pattern) if path.is_file()]
    return {path.relative_to(chapter): path.read_bytes() for path in wanted}


def included(path):
    """What the file includes by a path inside src/, such as ops/matmul.h."""
    return set(re.findall(r'^#include "([a-z_0-9]+/[a-z_0-9.-]+)"', path.read_text(), re.M))


def tests_of(chapter, changed):
    """The chapter's test files (without .cpp) that include a header that declares what this source holds.

    That is the source's own header (ops/matmul.h for ops/matmul.cu) and, where it has none, each of its folder that it includes. A .cuh is
    held by the sources that include it.
    """
    headers, left, seen = set(), [changed], set()
    while left:
        source = left.pop()
        if source in seen:
            continue
        seen.add(source)
        name = source.relative_to("src")
        if source.suffix == ".cuh":
            left += [path.relative_to(chapter) for path in chapter.glob("src/**/*.cu*") if str(name) in included(path)]
        elif (chapter / source.with_suffix(".h")).exists():
            headers.add(str(name.with_suffix(".h")))
        else:
            headers |= {header for header in included(chapter / source) if header.startswith(f"{name.parent}/") and header.endswith(".h")}
    return sorted(path.stem for path in chapter.glob("tests/*.cpp") if included(path) & headers)


def tests_of_operations(chapter):
    """The test files for ThreadSanitizer: those of operations, which alone share memory between threads, without whole models."""
    headers = {path.stem: {header.split("/")[0] for header in included(path)} for path in sorted(chapter.glob("tests/*.cpp"))}
    return [name for name, folders in headers.items() if "ops" in folders and "model" not in folders]


def for_sanitizers(chapters, sanitizer):
    """What runs each distinct kernel and parser once: [(chapter, names of the test files to run there; none means all)].

    That is the newest chapter, and before it each one with a kernel or parser that no later one has unchanged. There, the tests
    of these run; all of them, where one has no test file of its own. Under ThreadSanitizer only tests of operations run.
    """
    chosen = [(chapters[-1], [])]
    covered = set(sources(chapters[-1]).items())
    for chapter in reversed(chapters[:-1]):
        new = set(sources(chapter).items()) - covered
        if new:
            tests = [tests_of(chapter, path) for path, _ in new]
            chosen.insert(0, (chapter, sorted(set().union(*tests)) if all(tests) else []))
            covered |= new
    if sanitizer == "thread":
        chosen = [(chapter, [name for name in tests_of_operations(chapter) if not tests or name in tests]) for chapter, tests in chosen]
        chosen = [(chapter, tests) for chapter, tests in chosen if tests]
    return chosen


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(1, f"rung: {message} (./test.sh --help lists what there is)\n")


def parse():
    parser = Parser(prog="./test.sh", description="Builds and tests everything, and ends on the line 'N passed, N failed, N skipped'.")
    parser.add_argument("chapters", nargs="*", metavar="NN", help="numbers of chapters; none means everything")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--gpu", action="store_true", help="build with nvcc and run on a real GPU, nothing emulated")
    kind.add_argument("--sanitize", choices=["address", "thread"], help="build with this sanitizer")
    parser.add_argument("--check", choices=["memcheck", "racecheck", "initcheck", "synccheck"],
                        help="with --gpu: the tests of kernels alone, under this tool of NVIDIA's compute-sanitizer")
    parser.add_argument("--build-only", action="store_true", help="compile, but run nothing; what compiles counts as passed")
    parser.add_argument("-D", dest="define", metavar="NAME=VALUE", action="append", default=[], help="a definition passed on to cmake")
    parser.add_argument("--only-parse", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check and not options.gpu:
        parser.error("--check needs --gpu")
    if options.check and not shutil.which("compute-sanitizer"):
        parser.error("--check needs compute-sanitizer, which comes with the CUDA toolkit, on the PATH")
    options.define = [f"-D{definition}" for definition in options.define]
    chapters = sorted(path for path in (ROOT / "chapters").glob("[0-9][0-9]-*") if path.is_dir())
    numbers = {path.name[:2]: path for path in chapters}
    wanted = []
    for number in options.chapters:
        if number.zfill(2) not in numbers:
            parser.error(f"there is no chapter {number}; there are: {' '.join(numbers)}")
        if numbers[number.zfill(2)] not in wanted:
            wanted.append(numbers[number.zfill(2)])
    return options, wanted or chapters


def main():
    options, chapters = parse()
    if options.only_parse:
        return 0
    suite = Suite(options)
    working_copy = (ROOT / "working-copy.json").exists()  # one chapter to work on (tools/stage start): nothing else is there to test
    everything = not options.chapters and not working_copy
    whole = everything and not options.gpu and not options.sanitize and not options.build_only
    if whole:
        suite.part(suite.install_python)
        suite.part(suite.stage, ["check"])
    if everything and not options.check:
        suite.part(suite.common)
    for chapter, files in for_sanitizers(chapters, options.sanitize) if options.sanitize and everything else ((chapter, []) for chapter in chapters):
        suite.part(suite.chapter, chapter, *files)
    if whole:
        suite.part(suite.stage, ["check", "--outputs"])
        suite.part(suite.python_tests)
    print(f"{suite.passed} passed, {suite.failed} failed, {suite.skipped} skipped")
    return 1 if suite.failed or not suite.passed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
