"""tools/book check and the page about costs, on a made-up chain and on this repository's. Run: python3 -m unittest discover tests/book"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_book.costs import measured_table, stage_rows  # noqa: E402
from rung_book.coverage import check_chapter  # noqa: E402
from rung_tools.chapter import chapters_of  # noqa: E402
from rung_tools.errors import ToolError  # noqa: E402

OLD = "".join(f"int a{i};\n" for i in range(20))
NEW = OLD.replace("int a4;", "int b4;\nint c4;").replace("int a15;\n", "")


class CoverageTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.write("01-a", "src/x.cpp", OLD)
        self.write("02-b", "src/x.cpp", NEW)
        self.write("02-b", "src/k.cu", "__global__ void twice_kernel(float* y) {\n}\n")

    def write(self, chapter, name, text):
        path = self.root / "chapters" / chapter / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def errors(self, readme, not_shown="[]"):
        self.write("02-b", "README.md", readme)
        self.write("02-b", "chapter.toml", f"not_shown = {not_shown}\n")
        chapters = chapters_of(self.root)
        return check_chapter(chapters, chapters[1])

    def test_a_file_without_excerpt_is_an_error(self):
        errors, shown, total = self.errors("Nothing.\n")
        self.assertEqual([e.split(":")[0] for e in errors], ["src/k.cu", "src/x.cpp"])
        self.assertEqual((shown, total), (0, 3))

    def test_an_excerpt_must_show_a_changed_line(self):
        kernel = "*[src/k.cu](src/k.cu#L1), line 1*\n"
        self.assertEqual(self.errors(kernel + "*[src/x.cpp](src/x.cpp#L5-L7), lines 5–7*\n")[:2], ([], 2))
        self.assertEqual(self.errors(kernel + "*[src/x.cpp](src/x.cpp#L6), line 6*\n")[:2], ([], 2))
        self.assertEqual(len(self.errors(kernel + "*[src/x.cpp](src/x.cpp#L7-L12), lines 7–12*\n")[0]), 1)
        self.assertEqual(len(self.errors(kernel + "*[src/x.cpp](src/x.cpp#L1-L4), lines 1–4*\n")[0]), 1)

    def test_not_shown_needs_a_reason_and_a_use(self):
        self.assertEqual(self.errors("", '[{ files = ["src/*"], why = "plumbing" }]')[0], [])
        self.assertIn("each entry of not_shown", self.errors("", '[{ files = ["src/*"], why = "" }]')[0][0])
        self.assertIn("bench/*, which matches no file", self.errors("", '[{ files = ["src/*", "bench/*"], why = "plumbing" }]')[0][0])

    def test_costs_count_lines_files_and_kernels(self):
        self.errors("")
        row = stage_rows(chapters_of(self.root))[1]
        self.assertEqual(row["files"], [1, 1, 0])
        self.assertEqual(row["src"], [4, 2])
        self.assertEqual(row["kernels"], ["twice_kernel"])
        self.assertEqual(row["engine"], 22)

    def test_measurements_are_shown_or_said_to_be_missing(self):
        self.assertIn("No measurement is recorded yet", measured_table(self.root))
        folder = self.root / "docs" / "performance"
        folder.mkdir(parents=True)
        rounds = [{"engine": e, "model": "Q4_1", "threads": 2, "what": "decode", "tokens_per_second": s}
                  for e, s in (("Rung", 10), ("Rung", 30), ("Rung", 12), ("llama.cpp", 99))]
        record = {"machine": "a laptop", "date": "2026-01-02", "results": {"chapter": "13", "rounds": rounds}}
        (folder / "cpu.json").write_text(json.dumps(record))
        self.assertIn("| 13 | Q4_1, 2 threads, decode | 12.0 | a laptop | 2026-01-02 |", measured_table(self.root))
        generate = [{"chapter": c, "prompt_tokens": 128, "name": "decode", "tokens_per_second": s} for c, s in (("17", 500.0), ("13", 300.0))]
        batching = [{"chapter": "17", "mix": "256 requests", "batch_invariant": False, "output_tokens_per_second": 9000.4}]
        record["results"] = {"generate": generate, "batching": batching}
        (folder / "gpu.json").write_text(json.dumps(record))
        rows = [line.split(" | ")[:3] for line in measured_table(self.root).splitlines() if "gpu.json" in line]
        self.assertEqual(rows, [["| 13", "one sequence, prompt of 128, decode", "300.0"], ["| 17", "256 requests, tokens of answers", "9,000.4"],
                                ["| 17", "one sequence, prompt of 128, decode", "500.0"]])
        (folder / "cpu.json").write_text("[]")
        with self.assertRaisesRegex(ToolError, "cpu.json: not a measurement"):
            measured_table(self.root)

    def test_every_chapter_of_this_repository_is_covered(self):
        chapters = chapters_of(REPOSITORY)
        errors = [f"chapters/{c.name}/{e}" for c in chapters for e in check_chapter(chapters, c)[0]]
        self.assertEqual(errors, [])


if __name__ == "__main__":
    unittest.main()
