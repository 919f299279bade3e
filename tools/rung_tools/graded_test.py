"""One test of a student's program: run in a process group of its own under limits, and its Catch2 report read."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from .exercises import NOT_DONE

LIMIT_S = 60  # for one test on a machine whose calibration is 1
NOMINAL_S = 0.16  # the processor time of calibrate() where the tests were written (Zen 1, 2 GHz)
MEMORY = 4 << 30
FILE_SIZE = 64 << 20
SHOWN = 600  # characters of a message


@dataclass
class TestResult:
    name: str
    status: str  # pass, fail, not done, blocked, skipped, timeout, crash
    message: str = ""
    seconds: float = 0
    needs: tuple = ()  # the tasks that it said are not done yet


def calibrate():
    """How much slower than nominal this machine is right now, at least 1: a fixed piece of work, timed."""
    started = time.monotonic()
    x = 0
    for i in range(1_000_000):
        x = (x * 31 + i) & 0xFFFFFFFF
    return max(1.0, (time.monotonic() - started) / NOMINAL_S)


@dataclass
class Ran:
    status: int | None  # None: killed at the time limit
    output: str
    seconds: float


def run_limited(command, environment, folder, limit, memory=MEMORY):
    """Runs a program that nobody trusts: its own session, limits on memory, files and time, everything in its group killed at the end."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        cpu = int(limit * (os.cpu_count() or 1)) + 10  # what leaves its process group still ends
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([str(part) for part in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limits)
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read(1 << 20).decode("utf-8", "replace")
    return Ran(status, text, time.monotonic() - started)


def shown(text):
    """One line of at most SHOWN characters, without control characters."""
    text = re.sub(r"\s+", " ", "".join(c if c.isprintable() or c.isspace() else "?" for c in text)).strip()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def escaped(name):
    """A test's name as Catch2 wants it on the command line."""
    return re.sub(r'([,\[\]\\*"])', r"\\\1", name)


def _failures(element, infos):
    """Messages of failed assertions in document order; an INFO stands in front of the assertion that it belongs to."""
    for child in element:
        if child.tag == "Info":
            infos.append((child.text or "").strip())
        elif child.tag == "Expression":
            if child.get("success") != "true":
                yield _expression(child, infos)
            infos.clear()
        elif child.tag in ("Exception", "FatalErrorCondition", "Failure"):
            yield _with(infos, (child.text or "").strip())
            infos.clear()
        elif child.tag == "Section":
            yield from _failures(child, infos)


def _with(infos, text):
    return "; ".join([i for i in infos if i] + [text])


def _expression(expression, infos):
    thrown = expression.find("Exception")
    if thrown is not None:
        return _with(infos, (thrown.text or "").strip())
    original = (expression.findtext("Original") or "").strip()
    expanded = (expression.findtext("Expanded") or "").strip()
    line = re.fullmatch(r'"(.*)"\s*==\s*""', expanded, re.DOTALL)
    if line and re.match(r"[\w:.]*(compare|complaint|difference|check)\w*\(", original):  # their text says all: index, got, expected
        return _with(infos, line.group(1).strip())
    where = f"{Path(expression.get('filename', '')).name}:{expression.get('line', '?')}"
    return _with(infos, f"{where}: {original} was {expanded}" if expanded != original else f"{where}: {original}")


_SANITIZER = re.compile(r"(?:ERROR: AddressSanitizer|WARNING: ThreadSanitizer|SUMMARY: \w+Sanitizer|runtime error): ?[^\n]*")


def sanitizer_report(output):
    found = [m.group(0) for m in _SANITIZER.finditer(output)]
    summary = [f for f in found if f.startswith("SUMMARY")]
    return (summary or found or [""])[0].replace("../tree/", "")


class TestProgram:
    """The program `tests` of one build."""

    def __init__(self, objects, fixtures, calibration, kind, limit_s=LIMIT_S):
        self.objects, self.fixtures, self.kind = Path(objects), Path(fixtures), kind
        slow = {"address": 4, "thread": 15}.get(kind, 1)
        self.limit = limit_s * calibration * slow
        # A sanitizer and a GPU's driver reserve far more memory than they use.
        self.memory = MEMORY if kind == "test" else None

    def _environment(self, folder):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "RUNG_SIMT_SEED", "RUNG_TEST_MODEL")}
        return kept | {"HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "RUNG_FIXTURES": str(self.fixtures),
                       "RUNG_PROGRAM": str(self.objects / "rung"), "ASAN_OPTIONS": "hard_rss_limit_mb=6144", "TSAN_OPTIONS": "halt_on_error=1"}

    def run(self, arguments, folder):
        return run_limited([self.objects / "tests", *arguments], self._environment(folder), folder, self.limit, self.memory)

    def names(self, pattern=None):
        """The names of test cases; a ValueError says why they cannot be listed."""
        with tempfile.TemporaryDirectory(prefix="rung-grade-") as folder:
            ran = self.run(["--list-test-names-only"] + ([pattern] if pattern else []), folder)
            if "nrecognised token" in ran.output:  # Catch2 3
                ran = self.run(["--list-tests", "--verbosity", "quiet"] + ([pattern] if pattern else []), folder)
        names = [line.strip() for line in ran.output.splitlines() if line.strip()]
        if not names and pattern is None:
            how = "ran too long" if ran.status is None else _signal(ran.status) if ran.status < 0 else f"ended with status {ran.status}"
            raise ValueError(f"the test program {how} before its first test")
        return names

    def result(self, name):
        with tempfile.TemporaryDirectory(prefix="rung-grade-") as folder:
            report = Path(folder) / "report.xml"
            ran = self.run([escaped(name), "-r", "xml", "-o", str(report)], folder)
            try:
                text = report.read_text("utf-8", "replace")
            except OSError:
                text = ""
        return self._judge(name, ran, text)

    def _judge(self, name, ran, report):
        def is_(status, message="", needs=()):
            return TestResult(name, status, shown(message), round(ran.seconds, 2), needs)

        needs = tuple(dict.fromkeys(NOT_DONE.findall(report + ran.output)))
        if needs:
            return is_("not done", f"exercise {needs[0]} is not done yet", needs)
        fault = sanitizer_report(ran.output)
        if fault:
            return is_("fail", fault)
        if ran.status is None:
            return is_("timeout", f"still running after {self.limit:.0f} s")
        try:
            case = ElementTree.fromstring(report).find(".//TestCase")
        except ElementTree.ParseError:
            case = None
        failures = list(_failures(case, [])) if case is not None else re.findall(r"<Exception[^>]*>\s*(.*?)\s*</Exception>", report, re.DOTALL)
        verdict = case.find("OverallResult") if case is not None else None
        if verdict is None or ran.status < 0:
            how = _signal(ran.status) if ran.status < 0 else f"ended with status {ran.status} before its report was complete"
            last = [line[:200] for line in ran.output.strip().splitlines() if line.strip()][-1:]
            return is_("crash", "; ".join([f"the program {how}"] + failures[:1] + last))
        if verdict.get("success") != "true":
            return is_("fail", failures[0] if failures else "failed")
        if ran.status != 0:
            return is_("fail", f"all assertions hold, but the program ended with status {ran.status}")
        return is_("pass")


def _signal(status):
    if status == -signal.SIGXFSZ:
        return f"wrote more than {FILE_SIZE >> 20} MB"
    if status == -signal.SIGXCPU:
        return "used all the time that it may"
    if status in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT):
        return f"was ended by {signal.Signals(-status).name} (tools/grade --sanitize address may say where)"
    return f"was ended by signal {-status}"
