"""Grading one chapter: the student's sources among the chapter's own tests and build files, built, each graded test run, tasks judged."""

import contextlib
import fcntl
import fnmatch
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from rung_build import Build, BuildError, build_folder, relevant

from .chapter import STUDENT_FOLDERS
from .errors import ToolError
from .exercises import exercises_of, regions, replaced, task_regions
from .graded_test import LIMIT_S, TestProgram, TestResult, calibrate
from .working_copy import section_of

BUILD_LIMIT_S = 900
HARDWARE = {"[gpu]": "needs a GPU", "[model]": "needs the default model (./run.sh fetches it)", "[vocabularies]": "needs the published vocabularies"}


@dataclass
class Task:
    id: str
    title: str
    points: int
    tests: list  # patterns
    hint: str = ""
    read: str = ""
    hidden: bool = False
    status: str = "skipped"
    message: str = ""
    results: list = field(default_factory=list)

    @property
    def earned(self):
        return self.points if self.status == "pass" else 0


@dataclass
class Grade:
    submission: str
    chapter: str
    title: str
    tasks: list
    build: str = "ok"  # ok, failed, refused
    message: str = ""
    sanitize: str | None = None
    calibration: float = 1.0
    limit_s: float = 0

    @property
    def earned(self):
        return sum(t.earned for t in self.tasks)

    @property
    def skipped(self):
        return sum(t.points for t in self.tasks if t.status == "skipped")

    @property
    def possible(self):
        """Without the points of tasks that this machine cannot run."""
        return sum(t.points for t in self.tasks) - self.skipped

    @property
    def full(self):
        return self.build == "ok" and all(t.status in ("pass", "skipped") for t in self.tasks)


def matching(patterns, names):
    """The names that the patterns of a chapter.toml mean, in the order of the names; * stands for any text."""
    globs = [re.sub(r"([\[\]?])", r"[\1]", pattern) for pattern in patterns]
    return [n for n in names if any(fnmatch.fnmatchcase(n, g) or fnmatch.fnmatchcase(n.rsplit(" - ", 1)[0], g) for g in globs)]


def tasks_of(chapter):
    tasks = []
    for one in exercises_of(chapter):
        section = section_of(chapter, one["id"])
        read = f"chapters/{chapter.name}/README.md" + (f", “{section}”" if section else "")
        tasks.append(Task(one["id"], one["title"], one["points"], list(one["tests"]), one["hint"], read))
    return tasks


class Hidden:
    """A teacher's folder of further tests: *.cpp, and hidden.toml with [[exercises]] as in chapter.toml. An id that the chapter has gets
    those tests in addition (and other points, where given); a new id is a task of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        declaration = self.folder / "hidden.toml"
        try:
            self.exercises = tomllib.loads(declaration.read_text("utf-8")).get("exercises", [])
        except FileNotFoundError:
            raise ToolError(f"{declaration}: missing; it says which tasks the hidden tests grade") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ToolError(f"{declaration}: not valid TOML: {error}") from None
        for one in self.exercises:
            if not isinstance(one.get("id"), str) or not isinstance(one.get("tests", []), list) or not isinstance(one.get("points", 0), int):
                raise ToolError(f"{declaration}: each of [[exercises]] has an id, tests (a list) and points (a whole number)")
        self.sources = {f"tests/hidden_{p.name}": p.read_bytes() for p in sorted(self.folder.iterdir()) if p.suffix in (".cpp", ".h")}

    def apply(self, tasks):
        by_id = {t.id: t for t in tasks}
        for one in self.exercises:
            task = by_id.get(one["id"])
            if task is None:
                if "points" not in one or not one.get("tests"):
                    raise ToolError(f"{self.folder}/hidden.toml: {one['id']} is a task of its own, so it needs points and tests")
                tasks.append(Task(one["id"], one.get("title", "hidden tests"), one["points"], list(one["tests"]), one.get("hint", ""), hidden=True))
            else:
                task.points = one.get("points", task.points)
                task.tests += one.get("tests", [])


class Grader:
    """Grades submissions of one chapter, one after the other, in one build folder: only what differs is compiled again."""

    def __init__(self, root, chapter, hidden=None, sanitize=None, gpu=False, say=lambda text: None):
        self.root, self.chapter, self.hidden, self.sanitize, self.say = root, chapter, hidden, sanitize, say
        self.kind = sanitize or ("gpu" if gpu else "test")
        self.folder = build_folder() / "grade" / self.kind
        self.source = self.folder / chapter.name / "source"
        self.calibration = calibrate()
        self.limit_s = LIMIT_S

    @contextlib.contextmanager
    def _alone(self):
        """Two graders at once would build in one folder: the second waits."""
        (self.folder / self.chapter.name).mkdir(parents=True, exist_ok=True)
        with open(self.folder / self.chapter.name / ".grading", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _assemble(self, files):
        """Writes the source folder; files that have not changed keep their time, so that they are not compiled again."""
        wanted = {n: d for n, d in self.chapter.files.items() if not n.startswith(STUDENT_FOLDERS)}
        wanted |= {n: d for n, d in files.items() if n.startswith(STUDENT_FOLDERS)}
        if self.hidden:
            wanted |= self.hidden.sources
        for path in sorted(self.source.rglob("*"), reverse=True) if self.source.exists() else []:
            if path.is_dir() and not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.rmdir()  # only where it is empty
            elif path.is_symlink() or path.relative_to(self.source).as_posix() not in wanted:
                path.unlink()
        for name, data in wanted.items():
            path = self.source / name
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def _new(self, submission):
        tasks = tasks_of(self.chapter)
        if self.hidden:
            self.hidden.apply(tasks)
        return Grade(submission, self.chapter.name, self.chapter.title, tasks, sanitize=self.sanitize, calibration=round(self.calibration, 2),
                     limit_s=round(self.limit_s * self.calibration, 1))

    def refused(self, submission, message):
        """The grade of something that is no submission."""
        grade = self._new(submission)
        grade.build, grade.message = "refused", message
        return self._all_failed(grade)

    @staticmethod
    def _all_failed(grade):
        for task in grade.tasks:
            task.status, task.message = "not built", ""
        return grade

    def _program(self, files):
        """The test program built from these sources; raises BuildError."""
        self._assemble(files)
        builder = Build(self.kind, folder=self.folder, limit=BUILD_LIMIT_S * self.calibration)
        objects = builder.build(self.chapter.name, self.source, ["all"])
        return TestProgram(objects, self.root / "tests" / "fixtures", self.calibration, self.kind, self.limit_s)

    def grade(self, submission, only=None, isolate=False):
        """The Grade of a Submission. `only` restricts it to these tasks."""
        with self._alone():
            grade = self._new(submission.name)
            if only is not None:
                grade.tasks = [t for t in grade.tasks if t.id in only]
            try:
                program = self._program(submission.files)
            except BuildError as error:
                grade.build, grade.message = "failed", build_message(error)
                return self._all_failed(grade)
            self._run(grade, program)
            if isolate:
                self._isolate(grade, submission)
            return grade

    def _isolate(self, grade, submission):
        """Tries each task that failed or is blocked once more, among the book's solutions of the others: one mistake should cost the
        points of one task. What does not build that way keeps its grade."""
        for task in [t for t in grade.tasks if t.status in ("fail", "crash", "timeout", "blocked")]:
            if all(t.status in ("pass", "skipped") for t in grade.tasks if t is not task):
                continue
            files = with_task_of(self.chapter, submission.files, task.id)
            if files is None:
                continue
            alone = Grade(grade.submission, grade.chapter, grade.title, [Task(task.id, task.title, task.points, task.tests)])
            try:
                self._run(alone, self._program(files))
            except BuildError:
                continue
            task.status, task.message, task.results = alone.tasks[0].status, alone.tasks[0].message, alone.tasks[0].results
            if task.status == "pass":
                task.message = "right by itself; graded among the book's solutions of the other tasks"

    def _run(self, grade, program):
        try:
            names = program.names()
            absent = {}
            left_out = {tag: why for tag, why in HARDWARE.items() if not self._has(tag)}
            if self.sanitize:
                left_out["[slow]"] = "too slow under a sanitizer"
            for tag, why in left_out.items():
                absent |= {name: why for name in program.names(tag)}
        except ValueError as error:
            for task in grade.tasks:
                task.status, task.message = "crash", str(error)
            return
        done = {}
        for task in grade.tasks:
            for name in matching(task.tests, names):
                if name not in done:
                    done[name] = TestResult(name, "skipped", absent[name]) if name in absent else program.result(name)
                    self.say(f"  {done[name].status:8} {name}")
                task.results.append(done[name])
            judge(task)

    def _has(self, tag):
        if tag == "[gpu]":
            return self.kind == "gpu"
        if tag == "[model]":
            return (self.root / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").exists()
        return (self.root / "models" / "vocabularies").exists()


def with_task_of(chapter, files, task):
    """The chapter's own files with a student's solution of one task; None where its markers are not to be found in the student's files."""
    result = dict(chapter.files)
    for name in {name: None for name, _ in task_regions(chapter, task)}:
        theirs = [r for r in regions(files.get(name, b"").decode("utf-8", "replace")) if r.task == task]
        if len(theirs) != len([r for r in regions(chapter.code(name)) if r.task == task]):
            return None
        inside = [r.solution for r in theirs]
        result[name] = replaced(chapter.code(name), {task: inside}).encode("utf-8")
    return result


def build_message(error):
    """What failed, and the compiler's first errors with the lines that they point at; paths as the student knows them."""
    lines = error.output.replace("../tree/", "").replace("../common/", "common/").split("\n")
    chosen = []
    for number, line in enumerate(lines):
        if re.search(r"\berror\b", line, re.IGNORECASE) and not line.startswith("ccache") and len(chosen) < 12:
            chosen += [line, *[l for l in lines[number + 1: number + 3] if re.match(r"\s+(\d+ )?\|", l)]]
    return "\n".join([str(error)] + (chosen or relevant(error.output, 15).split("\n")))


def judge(task):
    """Sets a task's status and message from its tests' results."""
    ran = [r for r in task.results if r.status != "skipped"]
    if not task.results:
        task.status, task.message = "fail", f"no test in the program matches {', '.join(task.tests)}"
        return
    if not ran:
        task.status, task.message = "skipped", task.results[0].message
        return
    for status in ("crash", "timeout", "fail"):
        bad = [r for r in ran if r.status == status]
        if bad:
            task.status, task.message = status, f"{bad[0].name}: {bad[0].message}"
            return
    waiting = [r for r in ran if r.status == "not done"]
    if any(task.id in r.needs for r in waiting):
        task.status, task.message = "not done", f"exercise {task.id} is not done yet"
    elif waiting:
        task.status, task.message = "blocked", f"{waiting[0].name}: needs {', '.join(waiting[0].needs)}, which is not done yet"
    else:
        task.status = "pass"
        left_out = len(task.results) - len(ran)
        task.message = f"{left_out} of {len(task.results)} tests not run here: {[r for r in task.results if r.status == 'skipped'][0].message}" if left_out else ""
