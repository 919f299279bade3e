"""tools/grade --prove: that the exercises themselves are sound. For a chapter it shows that

- the skeleton is the reference but for its stubs, each stub raises the not-done error of its task, and nothing handed out holds solution text;
- the skeleton builds and every graded test reports a task that is not done; the reference gets full points;
- no task needs a later one: with those before it solved and those after it as stubs, each gets its points;
- every known-wrong solution in tests/wrong fails its task with the message that it says should help; each task has at least two.
"""

import re
import time

from .chapter import CODE_SUFFIXES, find_chapter
from .errors import ToolError
from .exercises import NOT_DONE_CALL, exercises_of, regions, skeleton, solution_lines, task_regions, with_stubs
from .grade import Grader
from .grade_report import table
from .submission import Submission
from .working_copy import hand_out
from .wrong import applied, wrong_solutions

LEAST_WRONG = 2


def static_errors(root, chapter):
    """What can be seen without a build."""
    errors = []
    fresh = skeleton(chapter)
    for name, data in fresh.items():
        if name.endswith(CODE_SUFFIXES) and _outside(data.decode("utf-8")) != _outside(chapter.code(name)):
            errors.append(f"{name}: the skeleton differs from the reference outside of the stubs")
    for one in exercises_of(chapter):
        for name, region in task_regions(chapter, one["id"]):
            if one["id"] not in NOT_DONE_CALL.findall("\n".join(region.stub)):
                errors.append(f"{name}: no STUB line of {one['id']} raises its not-done error")
        try:
            wrong = wrong_solutions(root, one["id"])
            for one_wrong in wrong:
                applied(chapter, one_wrong)
        except ToolError as error:
            errors.append(str(error))
            continue
        if len(wrong) < LEAST_WRONG:
            errors.append(f"tests/wrong/{one['id']}: {len(wrong)} known-wrong solutions; a task has at least {LEAST_WRONG}")
    return errors + leaks(root, chapter)


def _outside(text):
    lines = text.split("\n")
    for region in reversed(regions(text)):
        del lines[region.first + 1: region.last]
    return lines


def leaks(root, chapter):
    """Places in the hand-out that hold a line of a solution."""
    secret = solution_lines(chapter)
    errors = []
    for name, data in hand_out(root, chapter).items():
        if not name.startswith(("chapters/", "common/", "START")):
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        for number, line in enumerate(lines, 1):
            task = secret.get(line.strip())
            if task and not (name.startswith("common/") or "/tests/" in name):
                errors.append(f"{name}:{number}: holds a line of the solution of {task}: {line.strip()}")
    return errors


class _Proof:
    def __init__(self, root, chapter, say):
        self.root, self.chapter, self.say = root, chapter, say
        self.errors = []
        self.grader = Grader(root, chapter)

    def grade(self, what, files, only=None):
        started = time.monotonic()
        grade = self.grader.grade(Submission(what, files), only)
        self.say(f"{self.chapter.name}: {what}: {grade.earned} of {grade.possible} points, {time.monotonic() - started:.0f} s")
        return grade

    def reference(self):
        grade = self.grade("reference", self.chapter.files)
        if not grade.full or grade.skipped:
            self.errors.append("the reference does not get full points here:\n" + table(grade))

    def skeleton(self):
        grade = self.grade("skeleton", skeleton(self.chapter))
        if grade.build != "ok":
            self.errors.append(f"the skeleton does not build: {grade.message}")
            return
        own = {t.id for t in grade.tasks}
        for task in grade.tasks:
            for result in task.results:
                if result.status != "not done" and result.status != "skipped" or not set(result.needs) <= own:
                    self.errors.append(f"skeleton: {task.id}: its test '{result.name}' reports {result.status} "
                                       f"{', '.join(result.needs)} {result.message}".rstrip())
            if task.status not in ("not done", "blocked", "skipped"):
                self.errors.append(f"skeleton: {task.id} is graded '{task.status}': {task.message}")

    def order(self):
        """Each task with those before it solved and those after it not done. (The last one is the reference.)"""
        tasks = exercises_of(self.chapter)
        for number, one in enumerate(tasks[:-1], 1):
            files = with_stubs(self.chapter, [t["id"] for t in tasks[number:]])
            grade = self.grade(f"solved up to {one['id']}", files, [one["id"]])
            if grade.build != "ok":
                self.errors.append(f"solved up to {one['id']}, it does not build: {grade.message}")
            elif grade.tasks[0].status not in ("pass", "skipped"):
                task = grade.tasks[0]
                self.errors.append(f"{task.id}: with all tasks up to it solved it is graded '{task.status}': {task.message}")

    def wrong(self, wrong):
        grade = self.grade(f"{wrong.name} ({wrong.what})", applied(self.chapter, wrong), [wrong.task])
        if grade.build != "ok":
            self.errors.append(f"tests/wrong/{wrong.name}: does not build: {grade.message}")
            return
        task = grade.tasks[0]
        if task.status not in ("fail", "crash", "timeout"):
            self.errors.append(f"tests/wrong/{wrong.name}: is graded '{task.status}'; no test notices: {wrong.what}")
        elif wrong.expect not in task.message:
            self.errors.append(f"tests/wrong/{wrong.name}: the message should hold '{wrong.expect}', but is: {task.message}")
        else:
            self.say(f"    {task.status}: {task.message}")


def prove_chapter(root, chapter, say, wanted=None):
    """Errors of one chapter, with builds. `wanted` restricts the wrong solutions to these names; an empty list leaves them out."""
    proof = _Proof(root, chapter, say)
    proof.reference()
    proof.skeleton()
    proof.order()
    for one in exercises_of(chapter):
        for wrong in wrong_solutions(root, one["id"]):
            if wanted is None or wrong.name in wanted:
                proof.wrong(wrong)
    return proof.errors


def prove(root, chapters, numbers, static, skeletons, say):
    """0 when everything holds. `numbers` are chapters, or tasks such as 06.1 whose wrong solutions alone are tried; none means all chapters.
    static builds nothing; skeletons leaves the wrong solutions out."""
    tasks = [n for n in numbers if re.fullmatch(r"\d\d\.\d+", n)]
    chosen = [find_chapter(chapters, n.split(".")[0]) for n in numbers] if numbers else chapters
    count = 0
    for chapter in dict.fromkeys(chosen):
        errors = static_errors(root, chapter)
        if not static and tasks:
            proof = _Proof(root, chapter, say)
            for task in tasks:
                for wrong in wrong_solutions(root, task) if task.startswith(chapter.number) else []:
                    proof.wrong(wrong)
            errors += proof.errors
        elif not static:
            errors += prove_chapter(root, chapter, say, [] if skeletons else None)
        for error in errors:
            print(f"error: chapters/{chapter.name}: {error}")
        known = sum(len(wrong_solutions(root, one["id"])) for one in exercises_of(chapter))
        print(f"{chapter.name}: {len(exercises_of(chapter))} exercises, {known} known-wrong solutions, {len(errors)} errors", flush=True)
        count += len(errors)
    return 1 if count else 0
