"""tools/grade and the working copies of tools/stage, without a compiler: made-up chapters, zip files meant to do harm, and a stand-in for
a chapter's test program. Run: python3 -m unittest discover tests/tools"""

import csv
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_tools import submission as submission_module  # noqa: E402
from rung_tools import working_copy  # noqa: E402
from rung_tools.chapter import chapters_of  # noqa: E402
from rung_tools.errors import ToolError  # noqa: E402
from rung_tools.exercises import regions, replaced, skeleton, solution_lines, stubbed, without_solutions  # noqa: E402
from rung_tools.grade import Grade, Grader, Hidden, Task, judge, matching  # noqa: E402
from rung_tools.grade_report import as_json, class_csv, github_classroom, gradescope, junit, table  # noqa: E402
from rung_tools.graded_test import TestProgram, TestResult, run_limited, shown  # noqa: E402
from rung_tools.prove import leaks, static_errors  # noqa: E402
from rung_tools.submission import read_submission  # noqa: E402
from rung_tools.wrong import applied, wrong_solutions  # noqa: E402

ADD = textwrap.dedent("""\
    // Adds numbers.
    #include "rung/error.h"

    int twice(int number) {
      // BEGIN SOLUTION 01.1
      const int sum_of_both = number + number;
      return sum_of_both;
      // STUB: (void)number;
      // STUB: not_done("01.1");
      // END SOLUTION
    }
    """)
SCALE = textwrap.dedent("""\
    // Scales numbers.

    int scaled(int number, int factor) {
      // BEGIN SOLUTION 02.1
      int product_so_far = 0;
      for (int i = 0; i < factor; ++i) {
        product_so_far += number;
      }
      return product_so_far;
      // STUB: RUNG_NOT_DONE("02.1");
      // END SOLUTION
    }
    """)
README_OF_SCALE = "# Scaling\n\n## Repeated addition\n\n<!-- [[[cog cog.outl(excerpt(\"src/ops/scale.cpp\")) ]]] -->\n```cpp\n" + "\n".join(
    line for line in SCALE.split("\n") if "SOLUTION" not in line and "STUB" not in line) + "```\n*[src/ops/scale.cpp](src/ops/scale.cpp#L3-L13), lines 3–13*\n<!-- [[[end]]] -->\n"


def exercise(task, points=10, tests=("*",)):
    return (f'\n[[exercises]]\nid = "{task}"\ntitle = "Do {task}"\npoints = {points}\nhint = "Think of {task}."\n'
            f"tests = {json.dumps(list(tests))}\n")


class CourseTest(unittest.TestCase):
    """Two chapters: 01 adds add.cpp; 02 adds scale.cpp and changes table.cpp."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.root = self.folder / "repository"
        rows = "".join(f"int row_{i} = {i};\n" for i in range(30))
        self.chapter("01-adding", {"src/ops/add.cpp": ADD, "src/ops/table.cpp": rows, "tests/add_test.cpp": 'TEST_CASE("twice") {}\n'},
                     'title = "Adding"\nhardware = "any"\n' + exercise("01.1"), "# Adding\n")
        self.chapter("02-scaling", {"src/ops/add.cpp": ADD, "src/ops/table.cpp": rows.replace("row_20 = 20", "row_20 = 21"),
                                    "src/ops/scale.cpp": SCALE, "tests/add_test.cpp": 'TEST_CASE("twice") {}\n',
                                    "tests/scale_test.cpp": 'TEST_CASE("scaled by three") {}\n'},
                     'title = "Scaling"\nhardware = "any"\n' + exercise("02.1", 20, ["scaled*"]), README_OF_SCALE)
        for name in ("run.sh", "test.sh", "common/rung/error.h", "common/tests/error_test.cpp", "tests/fixtures/a.gguf", "tests/fixtures/make.py",
                     "tools/stage", "tools/rung_tools/chapter.py"):
            self.write(name, "x\n")
        self.chapters = chapters_of(self.root)
        self.said = []

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def chapter(self, name, files, toml, readme):
        for path, text in files.items():
            self.write(f"chapters/{name}/{path}", text)
        self.write(f"chapters/{name}/chapter.toml", toml)
        self.write(f"chapters/{name}/README.md", readme)
        self.write(f"chapters/{name}/CMakeLists.txt", "project(rung)\n")

    def start(self, number, folder, on=None):
        working_copy.start(self.root, self.chapters, number, folder, on, self.said.append)


class Exercises(CourseTest):
    def test_a_stub_takes_the_place_of_its_solution_alone(self):
        text = stubbed(ADD, lambda task: task == "01.1")
        self.assertIn('  // BEGIN SOLUTION 01.1\n  (void)number;\n  not_done("01.1");\n  // END SOLUTION\n', text)
        self.assertNotIn("sum_of_both", text)
        self.assertEqual(stubbed(ADD, lambda task: False), ADD)

    def test_regions_tell_solution_and_stub_apart(self):
        region, = regions(ADD)
        self.assertEqual((region.task, len(region.solution), region.stub), ("01.1", 2, ["  (void)number;", '  not_done("01.1");']))
        self.assertEqual(regions(ADD.replace("  // END SOLUTION\n", "")), [])
        self.assertIn("return 4;", replaced(ADD, {"01.1": ["return 4;"]}))

    def test_the_skeleton_keeps_earlier_chapters_solved(self):
        files = skeleton(self.chapters[1])
        self.assertEqual(files["src/ops/add.cpp"].decode(), ADD)
        self.assertIn('RUNG_NOT_DONE("02.1");', files["src/ops/scale.cpp"].decode())
        self.assertNotIn("product_so_far", files["src/ops/scale.cpp"].decode())

    def test_the_readme_loses_solutions_and_keeps_the_rest(self):
        text = without_solutions(README_OF_SCALE, self.chapters[1])
        self.assertNotIn("product_so_far", text)
        self.assertNotIn("cog", text)
        self.assertIn("int scaled(int number, int factor) {\n  // exercise 02.1: yours to write\n}\n", text)
        self.assertIn("*[src/ops/scale.cpp](src/ops/scale.cpp)*", text)

    def test_lines_that_stand_elsewhere_too_are_no_secret(self):
        self.assertIn("const int sum_of_both = number + number;", solution_lines(self.chapters[0]))
        self.write("chapters/01-adding/src/ops/table.cpp", "  const int sum_of_both = number + number;\n")
        self.assertEqual(solution_lines(chapters_of(self.root)[0]), {})


class WorkingCopies(CourseTest):
    def test_start_writes_all_that_a_chapter_needs_and_nothing_else(self):
        copy = self.folder / "mine"
        self.start("2", copy)
        names = {p.relative_to(copy).as_posix() for p in copy.rglob("*") if p.is_file()}
        self.assertLessEqual({"run.sh", "test.sh", "common/rung/error.h", "tests/fixtures/a.gguf", "START.md", "chapters/02-scaling/CMakeLists.txt"}, names)
        self.assertFalse(names & {"common/tests/error_test.cpp", "tests/fixtures/make.py"})
        self.assertFalse([n for n in names if n.startswith("chapters/01")])
        self.assertTrue(os.access(copy / "test.sh", os.X_OK))
        self.assertTrue(any("./test.sh 02" in line for line in self.said))
        self.assertIn("scale.cpp", (copy / "START.md").read_text())

    def test_start_overwrites_nothing(self):
        (self.folder / "full").mkdir()
        (self.folder / "full" / "thesis.txt").write_text("years of work")
        with self.assertRaisesRegex(ToolError, "not empty"):
            self.start("01", self.folder / "full")
        self.start("01", self.folder / "mine")
        with self.assertRaisesRegex(ToolError, "tools/stage reset 01"):
            self.start("01", self.folder / "mine")

    def test_going_on_with_ones_own_solution(self):
        copy = self.folder / "mine"
        self.start("01", copy)
        mine = ADD.replace("const int sum_of_both = number + number;\n  return sum_of_both;", "return 2 * number;  // my way")
        mine = stubbed(mine, lambda t: False)
        (copy / "chapters/01-adding/src/ops/add.cpp").write_text(mine)
        (copy / "chapters/01-adding/src/ops/extra.h").write_text("// mine\n")
        table_path = copy / "chapters/01-adding/src/ops/table.cpp"
        table_path.write_text(table_path.read_text().replace("row_3 = 3", "row_3 = 33"))
        self.start("02", copy, on=copy)
        after = copy / "chapters/02-scaling/src/ops"
        self.assertIn("my way", (after / "add.cpp").read_text())
        self.assertEqual((after / "extra.h").read_text(), "// mine\n")
        self.assertIn("row_3 = 33", (after / "table.cpp").read_text())
        self.assertIn("row_20 = 21", (after / "table.cpp").read_text())
        self.assertIn('RUNG_NOT_DONE("02.1")', (after / "scale.cpp").read_text())
        self.assertFalse(any("kept" in line for line in self.said))

    def test_what_cannot_be_merged_is_kept_and_what_is_undone_is_told(self):
        first, second = self.folder / "first", self.folder / "second"
        self.start("01", first)
        table_path = first / "chapters/01-adding/src/ops/table.cpp"
        table_path.write_text(table_path.read_text().replace("row_20 = 20", "row_20 = 2000"))
        self.start("02", second, on=first)
        self.assertIn("row_20 = 21", (second / "chapters/02-scaling/src/ops/table.cpp").read_text())
        kept, = (second / "backup").rglob("table.cpp")
        self.assertIn("row_20 = 2000", kept.read_text())
        self.assertTrue(any("not done yet in your solution: 01.1" in line for line in self.said), self.said)

    def test_reset_puts_one_stub_back_and_keeps_what_stood_there(self):
        copy = self.folder / "mine"
        self.start("02", copy)
        path = copy / "chapters/02-scaling/src/ops/scale.cpp"
        path.write_text(path.read_text().replace('RUNG_NOT_DONE("02.1");', "return 7;").replace("// Scales", "// I scale"))
        working_copy.reset(self.root, self.chapters, "02.1", copy, self.said.append)
        self.assertIn('RUNG_NOT_DONE("02.1");', path.read_text())
        self.assertIn("// I scale", path.read_text())
        kept, = (copy / "backup").rglob("scale.cpp")
        self.assertIn("return 7;", kept.read_text())
        path.write_text("nothing left")
        working_copy.reset(self.root, self.chapters, "02.1", copy, self.said.append)
        self.assertEqual(path.read_bytes(), skeleton(self.chapters[1])["src/ops/scale.cpp"])
        self.said.clear()
        working_copy.reset(self.root, self.chapters, "02", copy, self.said.append)
        self.assertIn("nothing to reset", self.said[0])

    def test_hint_names_file_section_and_hint(self):
        working_copy.hint(self.chapters, "02.1", self.said.append)
        self.assertIn("Think of 02.1.", self.said[-1])
        self.assertTrue(any("Repeated addition" in line for line in self.said))
        with self.assertRaisesRegex(ToolError, "no exercise 02.9"):
            working_copy.hint(self.chapters, "02.9")

    def test_solution_is_a_difference(self):
        working_copy.solution(self.root, self.chapters, "01.1", self.said.append)
        self.assertIn('-  not_done("01.1");', self.said)
        self.assertIn("+  return sum_of_both;", self.said)

    def test_export_holds_no_solution_and_is_the_same_each_time(self):
        one, two = self.folder / "a.zip", self.folder / "b.zip"
        working_copy.export(self.root, self.chapters, "02", one, self.said.append)
        time.sleep(0.01)
        working_copy.export(self.root, self.chapters, "02", two, self.said.append)
        self.assertEqual(one.read_bytes(), two.read_bytes())
        with zipfile.ZipFile(one) as archive:
            self.assertTrue(all(n.startswith("rung-02/") for n in archive.namelist()))
            self.assertFalse([n for n in archive.namelist() if b"product_so_far" in archive.read(n)])
            self.assertTrue(archive.getinfo("rung-02/test.sh").external_attr >> 16 & 0o100)

    def test_a_working_copy_hands_nothing_out(self):
        self.start("02", self.folder / "mine")
        with self.assertRaisesRegex(ToolError, "working copy of one chapter"):
            working_copy.export(self.folder / "mine", chapters_of(self.folder / "mine"), "02", self.folder / "x.zip")
        with self.assertRaisesRegex(ToolError, "working copy of one chapter"):
            working_copy.solution(self.folder / "mine", chapters_of(self.folder / "mine"), "02.1")


class Submissions(CourseTest):
    def zip(self, entries, name="s.zip"):
        path = self.folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for entry, data in entries:
                archive.writestr(entry, data)
        return path

    def refused(self, path, reason, wanted="02-scaling"):
        with self.assertRaisesRegex(ToolError, reason):
            read_submission(path, wanted)

    def test_a_working_copy_a_chapter_and_zips_of_both_are_read_alike(self):
        self.start("02", self.folder / "mine")
        chapter = self.folder / "mine/chapters/02-scaling"
        expected = {n: d for n, d in skeleton(self.chapters[1]).items() if n.startswith("src/")}
        for path in (self.folder / "mine", chapter):
            read, name = read_submission(path)
            self.assertEqual((read.files, name), (expected, "02-scaling"))
        sources = [(n, d) for n, d in expected.items()]
        for prefix in ("", "my work/chapters/02-scaling/", "02-scaling/", "rung-02/chapters/02-scaling/"):
            path = self.zip([(prefix + n, d) for n, d in sources] + [("__MACOSX/._src", b"x"), (prefix + "src/.DS_Store", b"x"),
                                                                     (prefix + "build/objects/rung", b"x" * 5_000_000)])
            self.assertEqual(read_submission(path, "02-scaling")[0].files, expected, prefix)

    def test_paths_that_leave_the_archive_are_refused(self):
        for name in ("../../etc/cron.d/x", "/etc/passwd", "src/../../x", "C:/x", "src\\..\\..\\x"):
            self.refused(self.zip([("src/ops/add.cpp", "x"), (name, "x")]), "leads outside the archive")
        self.refused(self.zip([("src/ops/add.cpp\n#.cpp", "x")]), "no name for a source file")

    def test_links_are_refused(self):
        entry = zipfile.ZipInfo("src/ops/scale.cpp")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        self.refused(self.zip([(entry, "/etc/passwd")]), "is a link")
        self.start("02", self.folder / "mine")
        path = self.folder / "mine/chapters/02-scaling/src/ops/scale.cpp"
        path.unlink()
        path.symlink_to(self.root / "chapters/02-scaling/src/ops/scale.cpp")
        self.refused(self.folder / "mine", "is a link")
        ops = path.parent
        for file in ops.iterdir():
            file.unlink()
        ops.rmdir()
        ops.symlink_to(self.root / "chapters/02-scaling/src/ops")
        self.refused(self.folder / "mine", "is a link")

    def test_bombs_are_refused_without_being_unpacked(self):
        started = time.monotonic()
        self.refused(self.zip([("src/zeros.cpp", b"\0" * 300_000_000)]), "more than 2 MB")
        self.refused(self.zip([(f"src/{i}.cpp", "") for i in range(submission_module.MOST_FILES + 1)]), "source files or")
        self.refused(self.zip([(f"src/{i}.cpp", b"\0" * 2_000_000) for i in range(20)]), "16 MB")
        self.assertLess(time.monotonic() - started, 20)

    def test_what_is_no_submission_is_one_line(self):
        (self.folder / "broken.zip").write_bytes(b"PK\3\4 and then nothing")
        self.refused(self.folder / "broken.zip", "not a zip file")
        good = self.zip([("src/a.cpp", "x" * 1000)])
        good.write_bytes(good.read_bytes().replace(b"src/a.cpp", b"src/b.cpp", 1))
        self.refused(good, "not a zip file")
        self.refused(self.folder / "nowhere", "no such folder or zip file")
        self.refused(self.zip([("thesis.pdf", "x")]), "no sources of 02-scaling")
        self.refused(self.zip([("src/a.cpp", "x")]), "give --chapter", None)


# A stand-in for the program `tests` of a chapter: a Python script that writes what Catch2 2.13 writes.
PROGRAM = textwrap.dedent("""\
    #!{python}
    import os, signal, subprocess, sys, time
    CASES = {{"passes": "", "fails": "", "not done": "", "hangs": "", "dies": "", "eats memory": "", "prints": "", "leaves a child": "",
             "gives up": "", "needs [brackets], and commas": "", "needs a GPU": "[gpu]", "lies": "", "races": ""}}
    if sys.argv[1] == "--list-test-names-only":
        print("\\n".join(n for n, tags in CASES.items() if len(sys.argv) < 3 or sys.argv[2] in tags))
        sys.exit(len(CASES) % 256)
    name = sys.argv[1].replace("\\\\", "")
    assert name in CASES, name
    report = open(sys.argv[5], "w")
    def case(inside, success):
        report.write('<Catch><Group><TestCase name="x">' + inside + '<OverallResult success="' + success + '"/></TestCase></Group></Catch>')
        report.close()
    def expression(original, expanded):
        return ('<Expression success="false" type="CHECK" filename="/x/test_scale.cpp" line="7"><Original>' + original + '</Original><Expanded>'
                + expanded + '</Expanded></Expression>')
    if name == "fails":
        case('<Info>one thread</Info><Expression success="true"/><Info>3 rows</Info>' + expression("compare(a, b) == &quot;&quot;",
             '"first difference at index 5: got 1, expected 2" == ""'), "false")
        sys.exit(1)
    if name == "not done":
        case('<Exception>unspecified launch failure: an exception left the kernel: exercise 02.1 is not done yet</Exception>', "false")
        sys.exit(1)
    if name == "hangs":
        time.sleep(1000)
    if name == "dies":
        report.write('<Catch><Group><TestCase name="x">'); report.flush()
        os.kill(os.getpid(), signal.SIGSEGV)
    if name == "eats memory":
        try:
            x = bytearray(8 << 30)
        except MemoryError:
            case('<Exception>std::bad_alloc</Exception>', "false"); sys.exit(1)
    if name == "prints":
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        while True: os.write(1, b"spam" * 16384)
    if name == "leaves a child":
        subprocess.Popen(["sleep", "987"])
    if name == "gives up":
        sys.exit(0)
    if name == "lies":
        case("", "true"); sys.exit(3)
    if name == "races":
        print("WARNING: ThreadSanitizer: data race (pid=1)\\nSUMMARY: ThreadSanitizer: data race scale.cu:7 in scale_kernel", file=sys.stderr)
    case("", "true")
    """)


class RunningTests(CourseTest):
    def setUp(self):
        super().setUp()
        objects = self.folder / "objects"
        objects.mkdir()
        (objects / "tests").write_text(PROGRAM.format(python=sys.executable))
        (objects / "tests").chmod(0o755)
        self.program = TestProgram(objects, self.folder, 1, "test", limit_s=20)

    def result(self, name):
        result = self.program.result(name)
        return result.status, result.message

    def test_statuses_and_messages(self):
        self.assertEqual(self.result("passes"), ("pass", ""))
        self.assertEqual(self.result("fails"), ("fail", "3 rows; first difference at index 5: got 1, expected 2"))
        self.assertEqual(self.program.result("not done").needs, ("02.1",))
        self.assertEqual(self.result("not done")[0], "not done")
        self.assertEqual(self.result("needs [brackets], and commas")[0], "pass")
        self.assertEqual(self.result("eats memory"), ("fail", "std::bad_alloc"))
        status, message = self.result("dies")
        self.assertEqual(status, "crash")
        self.assertIn("SIGSEGV", message)
        self.assertEqual(self.result("gives up")[0], "crash")
        self.assertEqual(self.result("lies")[0], "fail")
        self.assertEqual(self.result("races"), ("fail", "SUMMARY: ThreadSanitizer: data race scale.cu:7 in scale_kernel"))

    def test_what_runs_too_long_or_writes_too_much_is_stopped(self):
        self.program.limit = 1
        started = time.monotonic()
        self.assertEqual(self.result("hangs"), ("timeout", "still running after 1 s"))
        self.assertLess(time.monotonic() - started, 15)
        self.program.limit = 60
        status, message = self.result("prints")
        self.assertEqual(status, "crash")
        self.assertIn("wrote more than 64 MB", message)

    def test_nothing_stays_behind(self):
        self.assertEqual(self.result("leaves a child")[0], "pass")
        time.sleep(0.3)
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        self.assertNotIn("sleep 987", running)

    def test_a_program_that_cannot_list_its_tests_is_told(self):
        (self.program.objects / "tests").write_text("#!/bin/sh\nkill -SEGV $$\n")
        with self.assertRaisesRegex(ValueError, "SIGSEGV .*before its first test"):
            self.program.names()

    def test_messages_are_one_printable_line(self):
        self.assertEqual(shown("a\n  b\x1b[31m\tc"), "a b?[31m c")
        self.assertEqual(len(shown("x" * 5000)), 600)

    def test_a_grader_judges_the_tasks(self):
        chapter = self.chapters[1]
        grader = Grader(self.root, chapter)
        for patterns, status in ((["passes"], "pass"), (["fails", "not done"], "fail"), (["not done"], "not done"), (["needs a GPU"], "skipped"),
                                 (["passes", "needs a GPU"], "pass"), (["nobody has this"], "fail"), (["dies", "fails"], "crash")):
            grade = Grade("s", chapter.name, chapter.title, [Task("02.1", "Do", 20, patterns)])
            grader._run(grade, self.program)
            self.assertEqual(grade.tasks[0].status, status, patterns)
        grade = Grade("s", chapter.name, chapter.title, [Task("02.2", "Do", 20, ["not done"])])
        grader._run(grade, self.program)
        self.assertEqual((grade.tasks[0].status, "needs 02.1" in grade.tasks[0].message), ("blocked", True))


class Reports(CourseTest):
    def setUp(self):
        super().setUp()
        done = Task("02.1", "Scale", 10, ["a"], "Think.", "README", results=[TestResult("a", "pass", seconds=0.5)])
        wrong = Task("02.2", "Add <b>", 15, ["b"], "Hint & more.", "README", results=[TestResult("b", "fail", 'index 3 "got" 1')])
        absent = Task("02.3", "Run", 20, ["c"], results=[TestResult("c", "skipped", "needs a GPU")])
        for task in (done, wrong, absent):
            judge(task)
        self.grade = Grade("=cmd()", "02-scaling", "Scaling", [done, wrong, absent])

    def test_points_that_this_machine_cannot_give_are_not_lost(self):
        self.assertEqual((self.grade.earned, self.grade.possible, self.grade.skipped), (10, 25, 20))
        self.assertIn("10 of 25 points; 20 more could not be graded", table(self.grade))

    def test_the_table_helps(self):
        text = table(self.grade)
        self.assertIn("index 3", text)
        self.assertIn("hint: Hint & more.", text)
        self.assertNotIn("Think.", text)

    def test_json_is_versioned(self):
        data = json.loads(json.dumps(as_json(self.grade)))
        self.assertEqual((data["schema"], data["version"]), ("rung-grade", 1))
        self.assertEqual([t["status"] for t in data["tasks"]], ["pass", "fail", "skipped"])

    def test_gradescope_adds_up(self):
        data = gradescope(self.grade)
        self.assertEqual(sum(t["score"] for t in data["tests"]), data["score"])
        self.assertEqual(sum(t["max_score"] for t in data["tests"]), 25)

    def test_github_classroom_leaves_skipped_tasks_out(self):
        data = github_classroom(self.grade)
        self.assertEqual((data["status"], data["max_score"], [t["score"] for t in data["tests"]]), ("fail", 25, [10, 0]))

    def test_junit_is_xml(self):
        root = ElementTree.fromstring(junit(self.grade).split("\n", 1)[1])
        self.assertEqual([s.get("failures") for s in root], ["0", "1", "0"])
        self.assertEqual(root[2].get("skipped"), "1")

    def test_a_class_is_a_csv_that_no_spreadsheet_runs(self):
        rows = list(csv.DictReader(io.StringIO(class_csv([self.grade, self.grade]))))
        self.assertEqual(rows[1]["submission"], "'=cmd()")
        self.assertEqual((rows[0]["points"], rows[0]["02.2 status"], rows[0]["percent"]), ("10", "fail", "40.0"))

    def test_hidden_tests_add_to_tasks_and_make_new_ones(self):
        folder = self.folder / "hidden"
        folder.mkdir()
        (folder / "more.cpp").write_text("// more\n")
        (folder / "hidden.toml").write_text('[[exercises]]\nid = "02.1"\npoints = 12\ntests = ["hidden: a"]\n\n'
                                            '[[exercises]]\nid = "02.h1"\npoints = 5\ntests = ["hidden: *"]\n')
        hidden = Hidden(folder)
        self.assertEqual(list(hidden.sources), ["tests/hidden_more.cpp"])
        tasks = [Task("02.1", "Scale", 10, ["a"])]
        hidden.apply(tasks)
        self.assertEqual([(t.id, t.points, t.tests, t.hidden) for t in tasks],
                         [("02.1", 12, ["a", "hidden: a"], False), ("02.h1", 5, ["hidden: *"], True)])
        (folder / "hidden.toml").unlink()
        with self.assertRaisesRegex(ToolError, "hidden.toml: missing"):
            Hidden(folder)


class Proofs(CourseTest):
    def wrong(self, text, name="x"):
        self.write(f"tests/wrong/02.1/{name}.cpp", text)

    def test_a_sound_chapter_has_no_errors(self):
        self.wrong("// Wrong: zero.\n// Expect: index\n  return 0;\n", "a")
        self.wrong("// Wrong: one.\n// Expect: index\n  return 1;\n", "b")
        self.assertEqual(static_errors(self.root, self.chapters[1]), [])
        files = applied(self.chapters[1], wrong_solutions(self.root, "02.1")[0])
        self.assertIn("  // BEGIN SOLUTION 02.1\n  return 0;\n  // END SOLUTION", files["src/ops/scale.cpp"].decode())

    def test_one_of_several_regions_is_replaced(self):
        self.write("chapters/02-scaling/src/ops/scale.cpp", SCALE + SCALE.replace("product_so_far", "the_other_product"))
        self.wrong("// Wrong: zero.\n// Expect: index\n// Region: 2\n  return 0;\n")
        files = applied(chapters_of(self.root)[1], wrong_solutions(self.root, "02.1")[0])
        text = files["src/ops/scale.cpp"].decode()
        self.assertIn("product_so_far", text)
        self.assertNotIn("the_other_product", text)
        self.wrong("// Wrong: zero.\n// Expect: index\n// Region: 3\n  return 0;\n")
        with self.assertRaisesRegex(ToolError, "there is no region 3"):
            applied(self.chapters[1], wrong_solutions(self.root, "02.1")[0])

    def test_too_few_wrong_solutions_a_silent_stub_and_a_right_wrong_solution_are_errors(self):
        self.assertIn("0 known-wrong solutions", static_errors(self.root, self.chapters[1])[0])
        right = "\n".join(regions(SCALE)[0].solution)
        self.wrong(f"// Wrong: nothing.\n// Expect: index\n{right}\n")
        self.assertIn("is the right solution", static_errors(self.root, self.chapters[1])[0])
        self.wrong("return 0;\n")
        self.assertIn("begins with lines", static_errors(self.root, self.chapters[1])[0])
        self.write("chapters/02-scaling/src/ops/scale.cpp", SCALE.replace('RUNG_NOT_DONE("02.1")', "return 0"))
        self.assertIn("no STUB line of 02.1", static_errors(self.root, chapters_of(self.root)[1])[0])

    def test_a_leak_is_found(self):
        self.assertEqual(leaks(self.root, self.chapters[1]), [])
        self.write("chapters/02-scaling/README.md", "# x\n\n    product_so_far += number;\n")
        self.assertIn("README.md:3: holds a line of the solution of 02.1", leaks(self.root, chapters_of(self.root)[1])[0])


class Limits(unittest.TestCase):
    def test_patterns_mean_what_chapter_toml_means(self):
        names = ["a [b] - Cpu", "a [b] - Cuda", "ab"]
        self.assertEqual(matching(["a [b]"], names), names[:2])
        self.assertEqual(matching(["a* - Cuda"], names), names[1:2])

    def test_a_cpu_hog_outside_its_group_ends_too(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = run_limited([sys.executable, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])"], dict(os.environ), folder, 1)
            self.assertLess(int(ran.output), 600)


if __name__ == "__main__":
    unittest.main()
