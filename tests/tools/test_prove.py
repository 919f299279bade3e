"""tools/grade --prove on a made-up chapter, with a grader that reads instead of building. Run: python3 -m unittest discover tests/tools"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_tools import grade_cli, prove  # noqa: E402
from rung_tools.exercises import NOT_DONE_CALL  # noqa: E402
from rung_tools.grade import Grade, judge, tasks_of  # noqa: E402
from rung_tools.graded_test import TestResult  # noqa: E402

SOURCE = """// Two tasks.
int one() {
  // BEGIN SOLUTION 01.1
  return the_first_solution();
  // STUB: not_done("01.1");
  // END SOLUTION
}
int two() {
  // BEGIN SOLUTION 01.2
  return the_second_solution();
  // STUB: not_done("01.2");
  // END SOLUTION
}
"""
TASK = '\n[[exercises]]\nid = "{0}"\ntitle = "Do {0}"\npoints = 10\nhint = "Think."\ntests = ["*"]\n'


class ReadingGrader:
    """A task passes when the code of those in `needs` stands there: not done where one is a stub, failed where one is something else."""
    needs = {"01.1": ["01.1"], "01.2": ["01.1", "01.2"]}
    right = {"01.1": "the_first_solution", "01.2": "the_second_solution"}
    asked = []

    def __init__(self, root, chapter):
        self.chapter = chapter

    def grade(self, submission, only=None):
        text = submission.files["src/two.cpp"].decode()
        ReadingGrader.asked.append(submission.name)
        stubs = NOT_DONE_CALL.findall("\n".join(line for line in text.split("\n") if "STUB" not in line))
        grade = Grade(submission.name, self.chapter.name, "", [t for t in tasks_of(self.chapter) if only is None or t.id in only])
        for task in grade.tasks:
            open_ = [n for n in self.needs[task.id] if n in stubs]
            wrong = [n for n in self.needs[task.id] if n not in stubs and self.right[n] not in text]
            task.results = [TestResult("test", "not done" if open_ else "fail" if wrong else "pass", "index 3: got 1" if wrong else "", needs=tuple(open_))]
            judge(task)
        return grade


class ProveTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("chapters/01-two/src/two.cpp", SOURCE)
        self.write("chapters/01-two/chapter.toml", 'title = "Two"\nhardware = "any"\n' + TASK.format("01.1") + TASK.format("01.2"))
        self.write("chapters/01-two/README.md", "# Two\n")
        for task in ("01.1", "01.2"):
            for name in ("a", "b"):
                self.write(f"tests/wrong/{task}/{name}.cpp", f"// Wrong: {name}.\n// Expect: index 3\n  return {ord(name)};\n")
        ReadingGrader.asked = []

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prove(self, *arguments, needs=None):
        """(status, what it printed) of tools/grade --prove."""
        printed = io.StringIO()
        with (mock.patch.object(prove, "Grader", ReadingGrader), mock.patch.object(ReadingGrader, "needs", needs or ReadingGrader.needs),
              contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)):
            status = grade_cli.main(["--prove", *arguments, "-q"], str(self.root))
        return status, printed.getvalue()

    def test_a_sound_chapter_passes_and_everything_is_tried(self):
        self.assertEqual(self.prove(), (0, "01-two: 2 exercises, 4 known-wrong solutions, 0 errors\n"))
        self.assertEqual([name.split(" (")[0] for name in ReadingGrader.asked],
                         ["reference", "skeleton", "solved up to 01.1", "01.1/a", "01.1/b", "01.2/a", "01.2/b"])

    def test_skeletons_leaves_the_wrong_solutions_out(self):
        self.assertEqual(self.prove("--skeletons")[0], 0)
        self.assertEqual(ReadingGrader.asked, ["reference", "skeleton", "solved up to 01.1"])
        self.assertIn("not allowed with", self.prove("--skeletons", "--static")[1])

    def test_a_task_that_needs_a_later_one_is_an_error(self):
        status, printed = self.prove("01", "--skeletons", needs={"01.1": ["01.1", "01.2"], "01.2": ["01.2"]})
        self.assertEqual(status, 1)
        self.assertIn("01.1: with all tasks up to it solved it is graded 'blocked': test: needs 01.2, which is not done yet", printed)

    def test_a_test_that_passes_with_the_stub_in_place_is_an_error(self):
        status, printed = self.prove("--skeletons", needs={"01.1": ["01.1"], "01.2": []})
        self.assertEqual(status, 1)
        self.assertIn("skeleton: 01.2 is graded 'pass'", printed)

    def test_a_wrong_solution_that_passes_or_whose_message_does_not_help_is_an_error(self):
        self.write("tests/wrong/01.1/a.cpp", "// Wrong: nothing.\n// Expect: index 3\n  return 0 + the_first_solution();\n")
        self.write("tests/wrong/01.1/b.cpp", "// Wrong: b.\n// Expect: index 4\n  return 2;\n")
        status, printed = self.prove("01.1")
        self.assertEqual(status, 1)
        self.assertIn("tests/wrong/01.1/a: is graded 'pass'; no test notices: nothing.", printed)
        self.assertIn("tests/wrong/01.1/b: the message should hold 'index 4', but is: test: index 3: got 1", printed)


if __name__ == "__main__":
    unittest.main()
