"""The course from end to end, compiled and run: a student who climbs from chapter 06 to 07 in a working copy of their own, a teacher who
grades a class, and the proof that exercises are sound. Run: python3 -m unittest discover tests/course"""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_build import build_folder  # noqa: E402
from rung_tools.chapter import chapters_of, find_chapter  # noqa: E402
from rung_tools.exercises import exercises_of, regions, replaced, skeleton  # noqa: E402
from rung_tools.grade_cli import main  # noqa: E402
from rung_tools.prove import prove_chapter, static_errors  # noqa: E402
from rung_tools.wrong import wrong_solutions  # noqa: E402

CHAPTERS = chapters_of(REPOSITORY)
KERNELS = "src/ops/rms_norm.cu"


def quiet(text):
    pass


def solutions(chapter, name):
    return {r.task: r.solution for r in regions(chapter.code(name))}


class Course(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_in(self, folder, *command):
        """What a command of a working copy prints; it builds in a folder of its own, with the repository's ccache."""
        build = self.folder / "build"
        build.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (build_folder() / "ccache").mkdir(parents=True, exist_ok=True)
            (build / "ccache").symlink_to((build_folder() / "ccache").resolve())
        environment = dict(os.environ, RUNG_BUILD_DIR=str(build), RUNG_NO_INSTALL="1")
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        return done.stdout

    def stage(self, *arguments):
        done = subprocess.run([sys.executable, REPOSITORY / "tools/stage", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_student_climbs_from_06_to_07(self):
        copy = self.folder / "work"
        self.stage("start", "06", str(copy))
        chapter = find_chapter(CHAPTERS, "06")
        file = copy / "chapters/06-rms-norm" / KERNELS
        right = solutions(chapter, KERNELS)

        def grade(number="06"):
            report = copy / "grade.json"
            printed = self.run_in(copy, "tools/grade", ".", "--chapter", number, "--json", str(report))
            self.assertTrue(report.exists(), printed)
            data = json.loads(report.read_text())
            report.unlink()
            return data, {t["id"]: t["status"] for t in data["tasks"]}

        self.assertEqual(grade()[1], {"06.1": "not done", "06.2": "not done", "06.3": "not done"})

        wrong = next(w for w in wrong_solutions(REPOSITORY, "06.1") if w.name == "06.1/last-tile")
        file.write_text(replaced(file.read_text(), {"06.1": wrong.lines, "06.3": right["06.3"]}))
        data, statuses = grade()
        self.assertEqual(statuses, {"06.1": "fail", "06.2": "not done", "06.3": "blocked"})
        self.assertIn("first difference at index 0: got", data["tasks"][0]["message"])
        self.assertIn("needs 06.2, which is not done yet", data["tasks"][2]["message"])
        self.assertIn("a tree in shared memory", data["tasks"][0]["read"])

        mine = ["  // my own words", *right["06.1"]]
        file.write_text(replaced(file.read_text(), right | {"06.1": mine}))
        data, statuses = grade()
        self.assertEqual((data["points"]["earned"], set(statuses.values())), (35, {"pass"}))

        told = self.stage("start", "07", str(copy), "--on", str(copy))
        self.assertIn("./test.sh 07", told)
        self.assertIn("// my own words", (copy / "chapters/07-matmul" / KERNELS).read_text())
        self.assertEqual(set(grade("07")[1].values()), {"not done"})

    def test_a_teacher_grades_a_class(self):
        archive = self.folder / "chapter-06.zip"
        self.stage("export", "06", "--zip", str(archive))
        chapter = find_chapter(CHAPTERS, "06")
        right = solutions(chapter, KERNELS)
        fresh = skeleton(chapter)[KERNELS].decode()
        wrong = next(w for w in wrong_solutions(REPOSITORY, "06.2") if w.name == "06.2/one-warp")
        handed_in = self.folder / "handed-in"
        handed_in.mkdir()
        for name, kernels in (("right", replaced(fresh, right)), ("wrong", replaced(fresh, right | {"06.2": wrong.lines})),
                              ("broken", replaced(fresh, right) + "}\n")):
            with zipfile.ZipFile(archive) as given, zipfile.ZipFile(handed_in / f"{name}.zip", "w") as out:
                for entry in given.infolist():
                    data = given.read(entry)
                    if entry.filename.endswith(KERNELS):
                        data = kernels.encode()
                    if "test_rms_norm.cpp" in entry.filename:
                        data = b'#include "testing/catch.h"\nTEST_CASE("all is well") {}\n'  # does not count
                    out.writestr(entry, data)
        with zipfile.ZipFile(handed_in / "harm.zip", "w") as out:
            out.writestr("../../harm", "x")
        table = self.folder / "grades.csv"
        with contextlib.redirect_stdout(io.StringIO()):
            status = main(["--class", str(handed_in), "--chapter", "06", "--csv", str(table), "--isolate", "-q",
                           "--feedback", str(self.folder / "feedback")], str(REPOSITORY))
        self.assertEqual(status, 0)
        with table.open() as file:
            rows = {row["submission"]: row for row in csv.DictReader(file)}
        self.assertEqual({n: (r["points"], r["build"]) for n, r in rows.items()},
                         {"right": ("35", "ok"), "wrong": ("20", "ok"), "broken": ("0", "failed"), "harm": ("0", "refused")})
        self.assertEqual((rows["wrong"]["06.2 status"], rows["wrong"]["06.3 status"]), ("fail", "pass"))
        self.assertIn("leads outside", rows["harm"]["comment"])
        self.assertIn("rms_norm.cu", (self.folder / "feedback/broken.txt").read_text())

    def test_hidden_tests_and_an_endless_loop(self):
        hidden = self.folder / "hidden"
        hidden.mkdir()
        (hidden / "hidden.toml").write_text('[[exercises]]\nid = "06.h1"\ntitle = "one number"\npoints = 5\ntests = ["hidden: *"]\n')
        (hidden / "one.cpp").write_text('#include "testing/catch.h"\nTEST_CASE("hidden: one is one") { CHECK(1 == 1); }\n'
                                        'TEST_CASE("hidden: it ends") { for (volatile int i = 0; true; i = i) {} }\n')
        from rung_tools.grade import Grader, Hidden
        from rung_tools.submission import Submission

        chapter = find_chapter(CHAPTERS, "06")
        grader = Grader(REPOSITORY, chapter, Hidden(hidden))
        grader.limit_s = 1
        grade = grader.grade(Submission("s", chapter.files), ["06.h1"])
        task, = grade.tasks
        self.assertEqual((task.status, [r.status for r in task.results]), ("timeout", ["pass", "timeout"]))

    def test_the_exercises_of_every_chapter_are_sound_as_far_as_can_be_read(self):
        for chapter in CHAPTERS:
            with self.subTest(chapter.name):
                self.assertGreaterEqual(len(exercises_of(chapter)), 2)
                self.assertEqual(static_errors(REPOSITORY, chapter), [])

    def test_the_teachers_table_has_every_chapters_tasks_and_points(self):
        text = (REPOSITORY / "docs/teaching.md").read_text(encoding="utf-8")
        rows = {number: (int(tasks), int(points)) for number, tasks, points in re.findall(r"^\| (\d\d) [^|]*\|[^|]*\| (\d+), (\d+) \|", text, re.MULTILINE)}
        self.assertEqual(rows, {c.number: (len(exercises_of(c)), sum(e["points"] for e in exercises_of(c))) for c in CHAPTERS})

    def test_the_exercises_of_the_newest_chapter_are_sound(self):
        chapter = CHAPTERS[-1]
        one = wrong_solutions(REPOSITORY, exercises_of(chapter)[0]["id"])[0]
        self.assertEqual(prove_chapter(REPOSITORY, chapter, quiet, [one.name]), [])


if __name__ == "__main__":
    unittest.main()
