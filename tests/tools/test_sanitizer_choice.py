"""What the sanitizers run: each distinct kernel and parser once, by the tests of its operation (tools/test_suite.py)."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import test_suite  # noqa: E402

FIRST = {
    "src/ops/add.h": "",
    "src/ops/add.cu": '#include "ops/add.h"\n',
    "src/ops/row.cuh": "",
    "src/ops/fold.cu": '#include "ops/row.cuh"\n#include "ops/fold_kernels.h"\n#include "rung/error.h"\n',
    "src/ops/fold_kernels.h": "",
    "src/tensor/dtype.h": "",
    "src/tensor/dtype.cpp": '#include "tensor/dtype.h"\n',
    "tests/test_add.cpp": '#include "ops/add.h"\n#include "rung/error.h"\n',
    "tests/test_fold.cpp": '#include "ops/fold_kernels.h"\n',
    "tests/test_dtype.cpp": '#include "tensor/dtype.h"\n',
    "tests/test_engine.cpp": '#include "engine/engine.h"\n',
}


class SanitizerChoice(unittest.TestCase):
    def chosen(self, *changes, sanitizer="address"):
        """What is chosen from chapters that each change these files of the one before; None removes a file."""
        with tempfile.TemporaryDirectory() as folder:
            files, chapters = dict(FIRST), []
            for number, change in enumerate([{}, *changes], 1):
                files = {path: text for path, text in {**files, **change}.items() if text is not None}
                chapters.append(Path(folder) / f"{number:02}-chapter")
                for path, text in files.items():
                    (chapters[-1] / path).parent.mkdir(parents=True, exist_ok=True)
                    (chapters[-1] / path).write_text(text)
            return [(chapter.name[:2], tests) for chapter, tests in test_suite.for_sanitizers(chapters, sanitizer)]

    def test_the_newest_chapter_alone_where_nothing_differs(self):
        self.assertEqual(self.chosen({}, {"src/engine/engine.cpp": "new", "tests/test_engine.cpp": "changed"}), [("03", [])])

    def test_a_changed_kernel_is_run_where_it_stood_last(self):
        changed = {"src/ops/add.cu": "changed"}
        self.assertEqual(self.chosen({}, changed), [("02", ["test_add"]), ("03", [])])

    def test_a_removed_kernel_and_a_changed_parser(self):
        self.assertEqual(self.chosen({"src/ops/add.cu": None}), [("01", ["test_add"]), ("02", [])])
        self.assertEqual(self.chosen({"src/tensor/dtype.cpp": "changed"}), [("01", ["test_dtype"]), ("02", [])])

    def test_device_code_in_a_header_is_run_by_the_kernels_that_include_it(self):
        self.assertEqual(self.chosen({"src/ops/row.cuh": "changed"}), [("01", ["test_fold"]), ("02", [])])

    def test_each_version_once(self):
        changes = [{"src/ops/add.cu": '#include "ops/add.h"\n// second\n'}, {}, {"src/ops/add.cu": "third"}]
        self.assertEqual(self.chosen(*changes), [("01", ["test_add"]), ("03", ["test_add"]), ("04", [])])

    def test_under_thread_sanitizer_operations_alone(self):
        whole_model = {"tests/test_model.cpp": '#include "model/transformer.h"\n#include "ops/add.h"\n'}
        self.assertEqual(self.chosen(whole_model, {"src/tensor/dtype.cpp": "changed"}, sanitizer="thread"), [("03", ["test_add", "test_fold"])])
        self.assertEqual(self.chosen(whole_model, {"src/ops/add.cu": "changed"}, sanitizer="thread"),
                         [("02", ["test_add"]), ("03", ["test_add", "test_fold"])])

    def test_a_kernel_that_no_test_names_has_the_whole_suite(self):
        self.assertEqual(self.chosen({"src/ops/add.cu": "changed", "tests/test_add.cpp": None}, {"src/ops/add.cu": "again"})[1], ("02", []))


if __name__ == "__main__":
    unittest.main()
