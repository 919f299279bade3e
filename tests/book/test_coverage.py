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
from rung_book.coverage import check_chapter, hunks  # noqa: E402
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

    def test_a_file_without_excerpt_is_an_error_for_each_of_its_places(self):
        errors, shown, total = self.errors("Nothing.\n")
        self.assertEqual([e.split(":")[0] for e in errors], ["src/k.cu", "src/x.cpp", "src/x.cpp"])
        self.assertEqual((shown, total), (0, 3))

    def test_every_changed_place_must_be_shown(self):
        kernel = "*[src/k.cu](src/k.cu#L1), line 1*\n"
        first, second = "*[src/x.cpp](src/x.cpp#L5-L7), lines 5–7*\n", "*[src/x.cpp](src/x.cpp#L16-L17), lines 16–17*\n"
        self.assertEqual(self.errors(kernel + first + second), ([], 3, 3))
        self.assertEqual(self.errors(kernel + "*[src/x.cpp](src/x.cpp#L6), line 6*\n" + second), ([], 3, 3))
        self.assertEqual(self.errors(kernel + first)[0],
                         ["src/x.cpp: removed before line 17 (int a15;): no excerpt shows it and not_shown does not list it"])
        for beside in ("L7-L12), lines 7–12", "L1-L4), lines 1–4"):
            self.assertEqual(self.errors(kernel + f"*[src/x.cpp](src/x.cpp#{beside}*\n" + second)[0],
                             ["src/x.cpp: changed at lines 5–6 (int a4;): no excerpt shows it and not_shown does not list it"])

    def test_layout_is_no_change(self):
        def places(old, new):
            self.write("01-a", "src/x.cpp", old)
            self.write("02-b", "src/x.cpp", new)
            chapters = chapters_of(self.root)
            return len(hunks(chapters[0], chapters[1], "src/x.cpp"))

        old = "// What it does.\n#include <map>\n\nint f(int a) {\n  return a;\n}\n"
        for new in (old.replace("<map>", "<set>"), old.replace("int f(int a)", "int f(\n    int a)"), old.replace("\n\n", "\n\n\n"),
                    old.replace("What it does", "What it does now"), old.replace("  return", "  // BEGIN SOLUTION 02.1\n  return"),
                    old.replace("  return", "  // STUB: (void)a;\n  return")):
            self.assertEqual(places(old, new), 0, new)
        self.assertEqual(places(old, old.replace("return a", "return -a")), 1)
        self.assertEqual(places(old, old.replace("  return", "  // BEGIN SOLUTION 02.1\n  ++a;\n  return")), 1)
        self.assertEqual(places(old, old.replace("int f", "// Says less.\nint f")), 1)
        self.assertEqual(places(old, old.replace("(int a) {", "(int b) {\n").replace("return a", "return b")), 1)  # a blank line between is nothing

    def test_part_of_a_file_can_be_listed(self):
        kernel = '{ files = ["src/k.cu"], why = "a kernel" }'

        def errors(entry):
            return self.errors("", f"[{kernel}, {entry}]")[0]

        self.assertEqual(errors('{ files = ["src/x.cpp"], lines = "[abc]4|a15", why = "numbers" }'), [])
        self.assertIn("removed before line 17", errors('{ files = ["src/x.cpp"], lines = "c4", why = "numbers" }')[0])
        self.assertIn("src/x.cpp, lines c5, which matches nothing", errors('{ files = ["src/x.cpp"], lines = "[abc]4|a15", why = "x" }, '
                                                                          '{ files = ["src/x.cpp"], lines = "c5", why = "x" }')[0])
        self.assertIn("no regular expression", errors('{ files = ["src/x.cpp"], lines = "[", why = "x" }')[0])
        self.assertIn("each entry of not_shown", errors('{ files = ["src/x.cpp"], lines = "a", functions = ["f"], why = "x" }')[0])
        self.assertIn("each entry of not_shown", errors('{ files = ["src/x.cpp"], function = ["f"], why = "x" }')[0])

    def test_functions_can_be_listed(self):
        old = "int f() {\n  return 1;\n}\n\nint g() {\n  return 1;\n}\n"
        self.write("01-a", "src/x.cpp", old)
        self.write("02-b", "src/x.cpp", old.replace("1", "2").replace("int g", "// Two.\nint g"))
        kernel = '{ files = ["src/k.cu"], why = "a kernel" }'

        def errors(functions):
            return self.errors("", f'[{kernel}, {{ files = ["src/x.cpp"], functions = {functions}, why = "numbers" }}]')[0]

        self.assertEqual(errors('["f", "g"]'), [])  # the comment above a function is its own
        self.assertEqual([e.split(" (")[0] for e in errors('["f"]')], ["src/x.cpp: changed at line 5", "src/x.cpp: changed at line 7"])
        self.assertIn("src/x.cpp, function h, which matches nothing", errors('["f", "g", "h"]')[0])

    def test_not_shown_needs_a_reason_and_a_use(self):
        self.assertEqual(self.errors("", '[{ files = ["src/*"], why = "plumbing" }]')[0], [])
        self.assertIn("each entry of not_shown", self.errors("", '[{ files = ["src/*"], why = "" }]')[0][0])
        self.assertIn("bench/*, which matches nothing", self.errors("", '[{ files = ["src/*", "bench/*"], why = "plumbing" }]')[0][0])

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
