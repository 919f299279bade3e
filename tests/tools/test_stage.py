"""tools/stage on a small made-up chain in a temporary git repository. Run: python3 -m unittest discover tests/tools"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_tools.chapter_toml import set_file_lists  # noqa: E402
from rung_tools.cli import main  # noqa: E402
from rung_tools.console_blocks import quoted_commands  # noqa: E402
from rung_tools.cpp_source import find_functions, find_types, kernels, purpose, statement_end  # noqa: E402
from rung_tools.declaration import matches_some_test  # noqa: E402
from rung_tools.outputs import run_command  # noqa: E402
from rung_tools.output_match import matches, rewritten  # noqa: E402
from rung_tools.readme import prose_words  # noqa: E402

HAS_COG = importlib.util.find_spec("cogapp") is not None
needs_cog = unittest.skipUnless(HAS_COG, "cogapp is not installed")

HEADER = "// Lengths of things.\n#pragma once\nint length();\n"
LIST = "".join(f"int item_{i} = {i};\n" for i in range(30))
KERNEL = textwrap.dedent("""\
    // Scaling on CUDA: one thread an element.
    #include "ops/scale.h"

    template <class T>
    __global__ void scale_kernel(T* y, int n) {
      // BEGIN SOLUTION 02.1
      const int i = threadIdx.x;
      if (i < n) {
        y[i] = 2 * y[i];
      }
      // STUB: (void)y;
      // END SOLUTION
    }
    """)
TEST = 'TEST_CASE("scale doubles every element", "[ops]") {}\nTEST_CASE("length " "is\\" counted") {}\n'


def toml(number, title, adds=(), changes=(), removes=(), exercises=True):
    lists = "".join(f"{k} = [{', '.join(repr(v).replace(chr(39), chr(34)) for v in values)}]\n"
                    for k, values in (("adds", adds), ("changes", changes), ("removes", removes)))
    text = f'title = "{title}"\nhardware = "any CPU"\n{lists}'
    for k in (1, 2) if exercises else ():
        text += (f'\n[[exercises]]\nid = "{number}.{k}"\ntitle = "Do {number}.{k}"\npoints = 5\nhint = "Think."\n'
                 'tests = ["scale doubles*"]\n')
    return text


def readme(body=""):
    return f"# A chapter\n\n{body}\n" + "word " * 1300 + "\n"


def marked(*ids):
    return "".join(f"// BEGIN SOLUTION {i}\nint s{i.replace('.', '_')};\n// STUB: int n;\n// END SOLUTION\n" for i in ids)


class ChainTest(unittest.TestCase):
    """Chapters 01, 02, 04 and 05: 02 adds a kernel, 04 changes list.cpp and removes old.h, 05 adds a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        files = {"src/tensor/length.h": HEADER, "src/tensor/list.cpp": LIST, "src/tensor/old.h": "// Old.\n",
                 "tests/scale_test.cpp": TEST, "src/tensor/first.cpp": marked("01.1", "01.2")}
        self.chapter("01-lengths", files, toml("01", "Lengths of things", sorted(files)))
        files |= {"src/ops/scale.cu": KERNEL, "src/ops/scale.h": '#include "tensor/length.h"\n#include "rung/error.h"\n#include <vector>\n' + marked("02.2")}
        self.chapter("02-scale", files, toml("02", "Scaling every element at once", ["src/ops/scale.cu", "src/ops/scale.h"]))
        files = dict(files)
        files["src/tensor/list.cpp"] = LIST.replace("item_20 = 20", "item_20 = 2020")
        del files["src/tensor/old.h"]
        files["src/model/four.cpp"] = marked("04.1", "04.2")
        self.chapter("04-lists", files, toml("04", "Lists of four items", ["src/model/four.cpp"], ["src/tensor/list.cpp"], ["src/tensor/old.h"]))
        files = dict(files) | {"src/model/five.cpp": marked("05.1", "05.2")}
        self.chapter("05-last", files, toml("05", "The last one", ["src/model/five.cpp"]))
        self.commit("start")

    def chapter(self, name, files, declaration, text=None):
        for path, content in files.items():
            self.write(f"{name}/{path}", content)
        self.write(f"{name}/chapter.toml", declaration)
        self.write(f"{name}/README.md", text or readme())
        self.write(f"{name}/CMakeLists.txt", "project(rung)\n")

    def path(self, name):
        return self.root / "chapters" / name

    def write(self, name, content):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(content)

    def read(self, name):
        return self.path(name).read_text()

    def edit(self, name, old, new):
        text = self.read(name)
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def git(self, *arguments):
        environment = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
        for key in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            environment.pop(key, None)
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], cwd=self.root,
                              env=environment, check=True, capture_output=True, text=True).stdout

    def commit(self, message):
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def stage(self, *arguments):
        """(exit status, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["--root", str(self.root), *arguments], None)
        return status, out.getvalue(), err.getvalue()

    def assert_sound(self):
        status, out, _ = self.stage("check")
        self.assertEqual(status, 0, out)

    def check_finds(self, text, *arguments):
        status, out, _ = self.stage("check", *arguments)
        errors = [line for line in out.splitlines() if line.startswith("error: ")]
        self.assertEqual(status, 1, out)
        self.assertTrue(any(text in line for line in errors), f"{text!r} not among\n{out}")
        return out


class Check(ChainTest):
    def test_a_sound_chain_with_a_gap_in_its_numbers_passes(self):
        status, out, _ = self.stage("check")
        self.assertEqual(status, 0, out)
        self.assertIn("4 chapters checked", out)
        self.assertRegex(out, r": 0 errors, 0 warnings\n$" if HAS_COG else "0 errors")

    def test_undeclared_change(self):
        self.edit("02-scale/src/tensor/length.h", "length()", "size()")
        out = self.check_finds("chapters/02-scale/src/tensor/length.h: differs from 01-lengths, but chapter.toml does not list it under changes")
        self.assertIn("chapters/04-lists/src/tensor/length.h: differs from 02-scale", out)

    def test_undeclared_new_and_removed_file(self):
        self.write("04-lists/src/tensor/new.h", "int x;\n")
        self.path("05-last/src/model/four.cpp").unlink()
        self.check_finds("chapters/04-lists/src/tensor/new.h: is new, but")
        self.check_finds("chapters/05-last/src/model/four.cpp: is gone since 04-lists, but")

    def test_declared_but_not_so(self):
        self.edit("02-scale/chapter.toml", "changes = []", 'changes = ["src/tensor/list.cpp"]')
        self.edit("05-last/chapter.toml", "adds = [", 'adds = ["src/tensor/length.h", "src/nowhere.h", ')
        self.edit("05-last/chapter.toml", "removes = []", 'removes = ["src/model/four.cpp"]')
        self.check_finds("02-scale/chapter.toml: changes lists src/tensor/list.cpp, which is identical with 01-lengths's")
        self.check_finds("05-last/chapter.toml: adds lists src/tensor/length.h, which 04-lists has already")
        self.check_finds("05-last/chapter.toml: adds lists src/nowhere.h, which is in neither chapter")
        self.check_finds("05-last/chapter.toml: removes lists src/model/four.cpp, which is still there")

    def test_cmake_lists_is_the_same_everywhere(self):
        self.write("04-lists/CMakeLists.txt", "project(other)\n")
        self.path("05-last/CMakeLists.txt").unlink()
        self.check_finds("chapters/04-lists/CMakeLists.txt: differs from that of 01-lengths")
        self.check_finds("chapters/05-last/CMakeLists.txt: missing")

    def test_layer_order(self):
        for include, message in (('"model/four.h"', "against the layer order: ops stands above model"),
                                 ('<model/four.h>', "against the layer order: ops stands above model"),
                                 ('"scale.h"', 'write it from src/ with its layer, "ops/scale.h"'),
                                 ('"../tensor/length.h"', "without .."),
                                 ('"testing/catch.h"', "testing/ is only for tests/ and bench/"),
                                 ('"simt/fiber.h"', "simt/ is neither a layer nor rung/")):
            with self.subTest(include):
                self.write("02-scale/src/ops/scale.cu", f"#include {include}\n" + KERNEL)
                self.check_finds(f"chapters/02-scale/src/ops/scale.cu:1: includes \"{include[1:-1]}\"")
                self.check_finds(message)

    def test_tests_bench_and_main_may_include_every_layer(self):
        text = '#include "testing/catch.h"\n#include "model/x.h"\n#include "rung/error.h"\n'
        self.write("05-last/tests/a_test.cpp", text)
        self.write("05-last/bench/a.cpp", text)
        self.write("05-last/src/main.cpp", '#include "commands/command.h"\n#include "rung/error.h"\n')
        _, out, _ = self.stage("check")
        self.assertNotIn("includes", out)

    def test_unknown_layer(self):
        self.write("05-last/src/utils/a.h", "int a;\n")
        self.check_finds("chapters/05-last/src/utils/a.h: src/utils/ is not a layer")

    def test_markers(self):
        place = "05-last/src/model/five.cpp"
        for text, message in (("// BEGIN SOLUTION 05.1\n", "five.cpp:1: solution 05.1 never ends"),
                              ("// END SOLUTION\n", "five.cpp:1: END SOLUTION without a BEGIN"),
                              ("// BEGIN SOLUTION 05.1\n// BEGIN SOLUTION 05.2\n// END SOLUTION\n", "solution 05.2 begins inside solution 05.1"),
                              ("// STUB: int a;\n", "a STUB line outside a solution"),
                              ("// BEGIN SOLUTION\n// END SOLUTION\n", "five.cpp:1: not a marker"),
                              ("// begin solution 05.1\n// END SOLUTION\n", "five.cpp:1: not a marker"),
                              (marked("05.1", "05.2", "05.3"), "solution 05.3 is not named among the exercises"),
                              (marked("05.1", "05.2", "06.1"), "solution 06.1 first appears here, but its number"),
                              (marked("05.1"), "exercise 05.2 has no '// BEGIN SOLUTION 05.2'")):
            with self.subTest(message):
                self.write(place, text)
                self.check_finds(message)

    def test_an_exercise_of_an_earlier_chapter_is_not_named_again(self):
        self.edit("05-last/chapter.toml", 'id = "05.1"', 'id = "04.1"')
        self.check_finds("exercise 04.1 belongs to an earlier chapter")

    def test_chapter_toml_is_complete(self):
        good = self.read("05-last/chapter.toml")
        for old, new, message in (('hardware = "any CPU"\n', "", "hardware is missing or empty"),
                                  ('title = "The last one"\n', 'title = " "\n', "title is missing or empty"),
                                  ("removes = []\n", "", "removes must be a list of paths"),
                                  ("points = 5\n", "points = 0\n", "exercise 05.1: points must be a whole number above 0"),
                                  ('hint = "Think."\n', "", "exercise 05.1: hint is missing"),
                                  ('title = "Do 05.2"\n', "", "exercise 05.2: title is missing"),
                                  ('tests = ["scale doubles*"]\n', "tests = []\n", "exercise 05.1: tests must list"),
                                  ('"scale doubles*"', '"scale trebles"', "no test case in tests/ matches 'scale trebles'"),
                                  ('id = "05.2"', 'id = "05.1"', "exercise 05.1 is listed twice"),
                                  ('id = "05.1"', 'id = "5.1"', "an exercise has id '5.1'"),
                                  ('title = "The', 'colour = 1\ntitle = "The', "unknown key colour"),
                                  ('title = "The', 'title = The', "not valid TOML")):
            with self.subTest(message):
                self.write("05-last/chapter.toml", good.replace(old, new))
                self.check_finds("chapters/05-last/chapter.toml: ")
                self.check_finds(message)
        self.path("05-last/chapter.toml").unlink()
        self.check_finds("chapters/05-last/chapter.toml: missing")

    def test_shared_files_name_no_chapter(self):
        for text in ("// as in chapter 4", "// see 04-lists", "// Scaling every element at once", "// chapters/04"):
            with self.subTest(text):
                self.write("02-scale/src/ops/scale.h", text + "\n" + marked("02.2"))
                self.check_finds("chapters/02-scale/src/ops/scale.h:1: names a chapter")

    def test_strays_and_doubled_numbers(self):
        self.write("notes/x.txt", "x")
        self.check_finds("chapters/notes: is no chapter")
        self.write("02-twice/a", "x")
        status, _, err = self.stage("check")
        self.assertEqual((status, err), (1, "tools/stage: chapters/02-scale and chapters/02-twice have the same number\n"))

    def test_readme_missing_is_an_error_and_its_length_a_warning(self):
        self.write("04-lists/README.md", "# Short\n\n```\n" + "word " * 2000 + "\n```\n")
        status, out, _ = self.stage("check")
        self.assertEqual(status, 0)
        self.assertIn("warning: chapters/04-lists/README.md: 1 words of prose", out)
        self.path("04-lists/README.md").unlink()
        self.check_finds("chapters/04-lists/README.md: missing")

    def test_a_file_that_every_chapter_changes_is_a_warning(self):
        for i, name in enumerate(("02-scale", "04-lists", "05-last")):
            self.write(f"{name}/src/tensor/length.h", HEADER + f"int a{i};\n")
        self.assertIn("warning: src/tensor/length.h: every chapter changes it", self.stage("check")[1])
        self.write("05-last/src/tensor/length.h", HEADER + "int a1;\n")
        self.assertNotIn("every chapter changes it", self.stage("check")[1])

    def test_one_chapter_only(self):
        self.edit("02-scale/src/tensor/length.h", "length()", "size()")
        self.assertEqual(self.stage("check", "5")[0], 0)
        self.assertEqual(self.stage("check", "02")[0], 1)

    def test_build_folders_and_hidden_files_do_not_count(self):
        self.write("02-scale/build/x.o", "x")
        self.write("02-scale/.cache/x", "x")
        self.assert_sound()


@needs_cog
class Cog(ChainTest):
    BLOCKS = ('<!-- [[[cog cog.outl(excerpt("src/ops/scale.cu", function="scale_kernel")) ]]] -->\n<!-- [[[end]]] -->\n'
              '<!-- [[[cog\ncog.outl(file_table())\ncog.outl(exercise_table())\n]]] -->\nstale\n<!-- [[[end]]] -->\n')

    def test_drift_is_found_and_mended(self):
        self.write("02-scale/README.md", readme(self.BLOCKS))
        self.check_finds("chapters/02-scale/README.md: an excerpt or table drifted")
        status, out, _ = self.stage("check", "--fix")
        self.assertIn("chapters/02-scale/README.md: rewritten", out)
        self.assertEqual((status, self.stage("check")[0]), (0, 0))
        text = self.read("02-scale/README.md")
        self.assertNotIn("stale", text)
        self.assertIn("```cuda\ntemplate <class T>\n__global__ void scale_kernel(T* y, int n) {\n  const int i = threadIdx.x;\n", text)
        self.assertNotIn("SOLUTION", text)
        self.assertNotIn("STUB", text)
        self.assertIn("*[src/ops/scale.cu](src/ops/scale.cu#L4-L13), lines 4–13*", text)
        self.assertIn("| [src/ops/scale.cu](src/ops/scale.cu) | added | +13 | Scaling on CUDA: one thread an element |", text)
        self.assertNotIn("list.cpp", text)
        self.assertIn("| 02.1 | Do 02.1 | 5 | Think. |", text)
        self.edit("02-scale/src/ops/scale.cu", "2 * y[i]", "3 * y[i]")
        out = self.check_finds("chapters/02-scale/README.md: an excerpt or table drifted")
        self.assertIn("+    y[i] = 3 * y[i];", out)

    def test_file_table_counts_lines_and_shows_removed_files(self):
        self.write("04-lists/README.md", readme("<!-- [[[cog cog.outl(file_table()) ]]] -->\n<!-- [[[end]]] -->"))
        self.stage("check", "--fix", "4")
        text = self.read("04-lists/README.md")
        self.assertIn("| [src/tensor/list.cpp](src/tensor/list.cpp) | changed | +1 −1 |", text)
        self.assertIn("| src/tensor/old.h | removed | −1 | Old |", text)

    def test_an_excerpt_that_holds_cogs_own_marker(self):
        self.write("05-last/src/model/five.cpp", marked("05.1", "05.2") + "int f() {\n  return a[b[c[0]]];\n}\n")
        self.write("05-last/README.md", readme('<!-- [[[cog cog.outl(excerpt("src/model/five.cpp", function="f")) ]]] -->\n<!-- [[[end]]] -->'))
        for _ in range(2):
            self.assertEqual(self.stage("check", "--fix", "5")[0], 0)
        self.assertIn("  return a[b[c[0]]];", self.read("05-last/README.md"))
        self.assertEqual(self.stage("check", "5")[0], 0)

    def test_a_failing_block_is_one_clear_line(self):
        for call, message in (('excerpt("src/none.h")', "src/none.h: 02-scale has no such file"),
                              ('excerpt("src/ops/scale.cu", function="nothing")', "src/ops/scale.cu: found no definition of nothing"),
                              ('excerpt("src/ops/scale.cu", starting="y")', "stands on lines"),
                              ("1 / 0", "division by zero")):
            with self.subTest(call):
                self.write("02-scale/README.md", readme(f"<!-- [[[cog cog.outl({call}) ]]] -->\n<!-- [[[end]]] -->"))
                self.check_finds("chapters/02-scale/README.md: a cog block fails at line 3: ")
                self.check_finds(message)
        before = '<!-- [[[cog cog.outl("a") ]]] -->\na\n<!-- [[[end]]] -->\n'
        self.write("02-scale/README.md", readme(f"{before}<!-- [[[cog\nx = 1\n1 / 0\n]]] -->\n<!-- [[[end]]] -->"))
        self.check_finds("chapters/02-scale/README.md: a cog block fails at line 8: ")

    def test_the_last_line_of_a_file_without_a_line_break_is_kept(self):
        self.write("02-scale/src/ops/scale.h", marked("02.2") + "int last;")
        self.write("02-scale/README.md", readme('<!-- [[[cog cog.outl(excerpt("src/ops/scale.h")) ]]] -->\n<!-- [[[end]]] -->'))
        self.stage("check", "--fix", "2")
        self.assertIn("int last;\n```", self.read("02-scale/README.md"))

    def test_ways_to_choose_an_excerpt(self):
        self.write("02-scale/src/ops/scale.h", textwrap.dedent("""\
            // Scale.
            struct Cpu {
              int a;  // };
            };
            // On the CPU.
            void scale(Cpu& cpu, float* y);
            void scale(Cpu& cpu, float* y) {
              for (int i = 0; i < 3; ++i) {
                y[i] = '{';
              }
            }
            void scale(Cuda& cuda, float* y) { launch(); }
            """) + marked("02.2"))
        for call, lines in (('type="Cpu"', (2, 4)), ('function="scale(Cpu &"', (7, 11)), ('function="scale", nth=2', (12, 12)),
                            ('starting="for (int"', (8, 10)), ('starting="for (int", lines=2', (8, 9)),
                            ('between=("int a", "CPU")', (3, 5)), ('type="Cpu", comment=True', (1, 4))):
            with self.subTest(call):
                self.write("02-scale/README.md", readme(f'<!-- [[[cog cog.outl(excerpt("src/ops/scale.h", {call})) ]]] -->\n<!-- [[[end]]] -->'))
                self.assertEqual(self.stage("check", "--fix", "2")[0], 0)
                anchor = f"#L{lines[0]}-L{lines[1]}" if lines[0] != lines[1] else f"#L{lines[0]}"
                self.assertIn(f"(src/ops/scale.h{anchor})", self.read("02-scale/README.md"))
        self.write("02-scale/README.md", readme('<!-- [[[cog cog.outl(excerpt("src/ops/scale.h", function="scale(Cpu", elide=[("for", "  }")])) ]]] -->\n<!-- [[[end]]] -->'))
        self.stage("check", "--fix", "2")
        self.assertIn("void scale(Cpu& cpu, float* y) {\n  // …\n}\n", self.read("02-scale/README.md"))


class CppSource(unittest.TestCase):
    def test_functions_and_their_extent(self):
        text = ("Reader::Reader(File f) : file_(f), names_{\"a{\"} { go(); }\n"      # 0
                "auto Reader::read() const noexcept -> int {\n  return 1; // }\n}\n"  # 1-3
                "int call() { return read(1); }\n"                                     # 4
                "const char* raw() {\n  return R\"(})\";\n}\n")                          # 5-7
        self.assertEqual(find_functions(text, "Reader::Reader"), [(0, 0)])
        self.assertEqual(find_functions(text, "read"), [(1, 3)])
        self.assertEqual(find_functions(text, "raw"), [(5, 7)])

    def test_types(self):
        self.assertEqual(find_types("struct A;\nenum class A : int {\n  b\n};\n", "A"), [(1, 3)])

    def test_statement_end_follows_else(self):
        self.assertEqual(statement_end("if (a) {\n  b();\n} else if (c) {\n  d();\n} else {\n  e();\n}\nf();\n", 0), 6)
        self.assertEqual(statement_end("int a =\n    f(b,\n      c);\nint d;\n", 0), 2)

    def test_kernels(self):
        text = ("// __global__ void no()\ntemplate <int N>\n__global__ void __launch_bounds__(256) a(int* x) {}\n"
                "__global__\nvoid b_kernel(float) {}\nint c() { a<<<1, 1>>>(x); }\n")
        self.assertEqual(kernels(text), ["a", "b_kernel"])

    def test_purpose(self):
        self.assertEqual(purpose("#pragma once\n// Reads a\n// header. More.\n", "a.h"), "Reads a header")
        self.assertEqual(purpose("/* Block,\n * two lines */\nint a;\n", "a.cpp"), "Block, two lines")
        self.assertEqual(purpose("#include <a>\n// late\n", "a.cpp"), "late")
        self.assertEqual(purpose("int a;\n// no\n", "a.cpp"), "")
        self.assertEqual(purpose("// As Su et al. 2021 do. More.\n", "a.h"), "As Su et al. 2021 do")
        self.assertEqual(purpose('#!/usr/bin/python\n"""Makes data."""\n', "a.py"), "Makes data")

    def test_patterns_name_test_cases_as_catch2_does(self):
        cases = [("rms norm: one row", "[ops][cuda]"), ("dot", ""), ("typed", "")]
        self.assertTrue(matches_some_test("rms norm*", cases))
        self.assertTrue(matches_some_test("*one row", cases))
        self.assertTrue(matches_some_test("[ops][cuda]", cases))
        self.assertTrue(matches_some_test("typed - *", cases))
        self.assertFalse(matches_some_test("rms", cases))
        self.assertFalse(matches_some_test("[ops][cpu]", cases))

    def test_words_of_prose(self):
        self.assertEqual(prose_words("one two\n```cpp\nthree\n```\n<!-- four\nfive -->\n| six |\nit's seven\n"), 4)
        self.assertEqual(prose_words("<!-- [[[cog cog.outl(1) ]]] -->\nmade text\n<!-- [[[end]]] -->\nkept\n"), 1)


class TomlLists(unittest.TestCase):
    def test_lists_are_replaced_and_the_rest_is_kept(self):
        text = ('title = "adds = [1]" # ]\nchanges = ["a]", # x ]\n  "b"]\nnot_shown = []\n\n[[exercises]]\nid = "01.1"\n'
                'adds = ["lost"]\ntests = ["a"]\n')
        new = set_file_lists(text, {"adds": ["y", "x"], "changes": [], "removes": ["z"]})
        self.assertEqual(new, 'title = "adds = [1]" # ]\nchanges = []\nnot_shown = []\nadds = ["x", "y"]\nremoves = ["z"]\n\n'
                              '[[exercises]]\nid = "01.1"\ntests = ["a"]\n')
        self.assertEqual(set_file_lists(new, {"adds": ["y", "x"]}), new)

    def test_long_lists_take_a_line_each(self):
        new = set_file_lists("adds = []\n", {"adds": ["a" * 60, "b" * 60]})
        self.assertEqual(new, f'adds = [\n    "{"a" * 60}",\n    "{"b" * 60}",\n]\n')


class Diff(ChainTest):
    def test_lines(self):
        status, out, _ = self.stage("diff", "2", "04")
        self.assertEqual(status, 0)
        self.assertIn("--- 02-scale/src/tensor/list.cpp\n+++ 04-lists/src/tensor/list.cpp\n", out)
        self.assertIn("-int item_20 = 20;\n+int item_20 = 2020;\n", out)
        self.assertIn("--- /dev/null\n+++ 04-lists/src/model/four.cpp\n", out)
        self.assertIn("--- 02-scale/src/tensor/old.h\n+++ /dev/null\n", out)
        self.assertNotIn("\033[", out)
        self.assertNotIn("chapter.toml", out)

    def test_the_diff_is_a_patch(self):
        _, out, _ = self.stage("diff", "02-scale", "04-lists")
        copy = self.root / "copy"
        subprocess.run(["cp", "-r", str(self.path("02-scale")), str(copy)], check=True)
        subprocess.run(["git", "apply", "-p1", "--directory=copy"], input=out, text=True, cwd=self.root, check=True)
        self.assertEqual((copy / "src/tensor/list.cpp").read_text(), self.read("04-lists/src/tensor/list.cpp"))
        self.assertFalse((copy / "src/tensor/old.h").exists())

    def test_path(self):
        _, out, _ = self.stage("diff", "1", "4", "src/tensor")
        self.assertIn("list.cpp", out)
        self.assertNotIn("scale.cu", out)
        status, _, err = self.stage("diff", "1", "4", "src/tens")
        self.assertEqual((status, err), (1, "tools/stage: neither 01-lengths nor 04-lists has src/tens\n"))
        self.assertIn("+title = ", self.stage("diff", "1", "4", "chapter.toml")[1])

    def test_stat(self):
        _, out, _ = self.stage("diff", "1", "4", "--stat")
        rows = [re.split(r"  +", line.strip()) for line in out.splitlines()]
        self.assertIn(["src/ops/scale.cu", "added", "+13", "-0", "scale_kernel"], rows)
        self.assertIn(["src/tensor/list.cpp", "changed", "+1", "-1"], rows)
        self.assertIn(["src/tensor/old.h", "removed", "+0", "-1"], rows)
        self.assertTrue(out.endswith("1 kernel added\n"))
        self.assertIn("0 kernels added", self.stage("diff", "2", "4", "--stat")[1])

    def test_binary_files(self):
        self.path("02-scale/tests/data").mkdir()
        self.path("02-scale/tests/data/x.bin").write_bytes(b"\0\1\2")
        self.assertIn("Binary files /dev/null and 02-scale/tests/data/x.bin differ", self.stage("diff", "1", "2")[1])
        self.assertRegex(self.stage("diff", "1", "2", "--stat")[1], r"x\.bin\s+added\s+binary")

    def test_html(self):
        page = self.root / "page.html"
        self.edit("04-lists/src/tensor/list.cpp", "item_3 = 3", 'item_3 = a<b>("&")')
        status, _, _ = self.stage("diff", "2", "4", "--html", str(page))
        self.assertEqual(status, 0)
        text = page.read_text()
        self.assertIn('+int item_3 = a&lt;b&gt;(&quot;&amp;&quot;);</td>', text)
        self.assertIn('<tr class="d"><td class="n">4</td><td class="n"></td><td>-int item_3 = 3;</td></tr>', text)
        self.assertIn('<tr class="a"><td class="n"></td><td class="n">4</td><td>+int item_3', text)
        self.assertIn('<tr class=""><td class="n">5</td><td class="n">5</td><td> int item_4 = 4;</td></tr>', text)
        self.assertIn("color-scheme: light dark", text)
        self.assertIn("light-dark(", text)
        self.assertNotRegex(text, r"https?://|src=|<link")
        tags = re.findall(r"<(/?)(\w+)", text)
        for tag in ("table", "tr", "td", "details", "div", "span"):
            self.assertEqual(sum(1 for c, t in tags if t == tag and not c), sum(1 for c, t in tags if t == tag and c), tag)
        status, _, err = self.stage("diff", "2", "4", "--html", str(self.root / "no/page.html"))
        self.assertEqual(status, 1)
        self.assertEqual(err.count("\n"), 1)


class Propagate(ChainTest):
    def test_identical_files_are_copied(self):
        self.edit("01-lengths/src/tensor/length.h", "int length()", "long length()")
        self.path("01-lengths/src/tensor/length.h").chmod(0o755)
        status, out, _ = self.stage("propagate", "1")
        self.assertEqual(status, 0)
        for name in ("02-scale", "04-lists", "05-last"):
            self.assertEqual(self.read(f"{name}/src/tensor/length.h"), self.read("01-lengths/src/tensor/length.h"))
            self.assertIn(f"chapters/{name}/src/tensor/length.h: copied\n", out)
            self.assertTrue(self.path(f"{name}/src/tensor/length.h").stat().st_mode & 0o100)
        self.assert_sound()

    def test_only_later_chapters_and_only_edited_files(self):
        self.edit("04-lists/src/tensor/list.cpp", "item_1 = 1", "item_1 = 11")
        self.stage("propagate", "4")
        changed = self.git("status", "--porcelain").split("\n")
        self.assertEqual([c for c in changed if c], [" M chapters/04-lists/src/tensor/list.cpp", " M chapters/05-last/src/tensor/list.cpp"])

    def test_a_differing_file_is_merged_and_the_merge_goes_on(self):
        self.edit("01-lengths/src/tensor/list.cpp", "item_2 = 2;", "item_2 = 22;")
        status, out, _ = self.stage("propagate", "01")
        self.assertEqual(status, 0)
        self.assertIn("chapters/02-scale/src/tensor/list.cpp: copied\n", out)
        self.assertIn("chapters/04-lists/src/tensor/list.cpp: merged\n", out)
        self.assertIn("chapters/05-last/src/tensor/list.cpp: copied\n", out)
        for name in ("04-lists", "05-last"):
            self.assertIn("item_2 = 22;", self.read(f"{name}/src/tensor/list.cpp"))
            self.assertIn("item_20 = 2020;", self.read(f"{name}/src/tensor/list.cpp"))
        self.assert_sound()

    def test_a_conflict_stops_and_its_resolution_goes_on(self):
        self.edit("01-lengths/src/tensor/list.cpp", "item_20 = 20;", "item_20 = 21;")
        self.edit("01-lengths/src/tensor/length.h", "int length()", "long length()")
        status, out, _ = self.stage("propagate", "1")
        self.assertEqual(status, 1)
        self.assertIn("chapters/04-lists/src/tensor/list.cpp: CONFLICT: 1 place to resolve", out)
        self.assertIn("stopped: resolve chapters/04-lists/src/tensor/list.cpp, then", out)
        text = self.read("04-lists/src/tensor/list.cpp")
        self.assertRegex(text, "<<<<<<< chapters/04-lists/src/tensor/list.cpp\nint item_20 = 2020;\n"
                               r"\|\|\|\|\|\|\| 02-scale at HEAD\nint item_20 = 20;\n=======\nint item_20 = 21;\n>>>>>>> chapters/02-scale")
        self.assertIn("2020;", self.read("05-last/src/tensor/list.cpp"), "05 waits")
        self.assertTrue((self.root / ".git/rung-propagate.json").is_file())
        self.assertIn("int length()", self.read("05-last/src/tensor/length.h"))

        status, _, err = self.stage("propagate", "1")
        self.assertEqual(status, 1)
        self.assertIn("a propagation of 01-lengths waits", err)
        status, _, err = self.stage("propagate", "--continue")
        self.assertEqual((status, err), (1, "tools/stage: chapters/04-lists/src/tensor/list.cpp: still holds conflict markers; resolve them, then --continue\n"))

        self.write("04-lists/src/tensor/list.cpp", LIST.replace("item_20 = 20;", "item_20 = 2121;"))
        self.commit("HEAD moves in between")
        status, out, _ = self.stage("propagate", "1", "--continue")
        self.assertEqual(status, 0, out)
        self.assertIn("item_20 = 2121;", self.read("05-last/src/tensor/list.cpp"))
        self.assertIn("long length()", self.read("05-last/src/tensor/length.h"))
        self.assertFalse((self.root / ".git/rung-propagate.json").exists())
        self.assert_sound()
        self.assertEqual(self.stage("propagate", "--continue")[2], "tools/stage: no propagation waits to be continued\n")

    def test_abort_forgets(self):
        self.edit("01-lengths/src/tensor/list.cpp", "item_20 = 20;", "item_20 = 21;")
        self.stage("propagate", "1")
        self.assertEqual(self.stage("propagate", "--abort")[0], 0)
        self.assertFalse((self.root / ".git/rung-propagate.json").exists())

    def test_a_new_file_is_added_everywhere_and_listed_once(self):
        self.write("02-scale/src/ops/new.h", "// New.\n")
        status, out, _ = self.stage("propagate", "2")
        self.assertEqual(status, 0)
        self.assertIn("chapters/05-last/src/ops/new.h: added\n", out)
        self.assertIn("chapters/02-scale/chapter.toml: adds + src/ops/new.h\n", out)
        self.assertIn("src/ops/new.h", self.read("02-scale/chapter.toml"))
        self.assertNotIn("src/ops/new.h", self.read("04-lists/chapter.toml") + self.read("05-last/chapter.toml"))
        self.assertFalse(self.path("01-lengths/src/ops").exists())
        self.assert_sound()

    def test_a_new_file_that_a_later_chapter_has_already(self):
        self.write("02-scale/src/model/four.cpp", "int early;\n")
        status, out, _ = self.stage("propagate", "2")
        self.assertEqual(status, 1)
        self.assertIn("chapters/04-lists/src/model/four.cpp: CONFLICT", out)
        self.write("04-lists/src/model/four.cpp", "int early;\n" + marked("04.1", "04.2"))
        status, out, _ = self.stage("propagate", "--continue")
        self.assertEqual(status, 0)
        self.assertIn("chapters/04-lists/chapter.toml: adds - src/model/four.cpp, changes + src/model/four.cpp\n", out)
        self.assert_sound()

    def test_a_deleted_file_is_deleted(self):
        self.path("02-scale/src/ops/scale.cu").unlink()
        self.edit("02-scale/src/ops/scale.h", "02.2", "02.1")
        self.edit("02-scale/chapter.toml", 'id = "02.2"', 'id = "02.9"')
        status, out, _ = self.stage("propagate", "2")
        self.assertEqual(status, 0)
        self.assertIn("chapters/05-last/src/ops/scale.cu: deleted\n", out)
        self.assertFalse(self.path("05-last/src/ops/scale.cu").exists())
        self.assertIn("adds - src/ops/scale.cu", out)

    def test_a_deleted_file_that_a_later_chapter_changed_is_a_conflict(self):
        self.path("01-lengths/src/tensor/list.cpp").unlink()
        status, out, _ = self.stage("propagate", "1")
        self.assertEqual(status, 1)
        self.assertIn("chapters/04-lists/src/tensor/list.cpp: CONFLICT: deleted in 02-scale, but changed here", out)
        self.path("04-lists/src/tensor/list.cpp").unlink()
        self.assertEqual(self.stage("propagate", "--continue")[0], 0)
        self.assertFalse(self.path("05-last/src/tensor/list.cpp").exists())
        self.assert_sound()

    def test_a_rename_is_a_deletion_and_an_addition(self):
        self.path("01-lengths/src/tensor/length.h").rename(self.path("01-lengths/src/tensor/size.h"))
        self.assertEqual(self.stage("propagate", "1")[0], 0)
        for name in ("02-scale", "04-lists", "05-last"):
            self.assertTrue(self.path(f"{name}/src/tensor/size.h").is_file())
            self.assertFalse(self.path(f"{name}/src/tensor/length.h").exists())
        self.assert_sound()

    def test_an_edit_of_a_file_that_is_removed_later_ends_there(self):
        self.write("01-lengths/src/tensor/old.h", "// Older.\n")
        status, out, _ = self.stage("propagate", "1")
        self.assertEqual(status, 0)
        self.assertIn("chapters/04-lists/src/tensor/old.h: stays removed", out)
        self.assertEqual(self.read("02-scale/src/tensor/old.h"), "// Older.\n")
        self.assertFalse(self.path("04-lists/src/tensor/old.h").exists())
        self.assertFalse(self.path("05-last/src/tensor/old.h").exists())
        self.assert_sound()

    def test_own_files_stay(self):
        self.write("01-lengths/README.md", readme("More."))
        status, _, err = self.stage("propagate", "1")
        self.assertEqual((status, err), (1, "tools/stage: chapters/01-lengths: nothing differs from HEAD, so there is nothing to propagate\n"))

    def test_the_shared_cmake_file_goes_along(self):
        self.write("01-lengths/CMakeLists.txt", "project(new)\n")
        self.assertEqual(self.stage("propagate", "1")[0], 0)
        self.assert_sound()

    def test_without_a_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "chapters/01-a").mkdir(parents=True)
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
            self.root = Path(folder)
            status, _, err = self.stage("propagate", "1")
        self.assertEqual(status, 1)
        self.assertIn("not a git repository with a commit", err)


class Outputs(ChainTest):
    """Quoted commands: run.sh is replaced by a script that prints its arguments."""

    def setUp(self):
        super().setUp()
        script = self.root / "run.sh"
        script.write_text('#!/bin/bash\ncase $1 in fail) echo oops >&2; exit 1;; slow) sleep 30;; lines) seq "$2";; *) echo "got $*"; echo noise >&2;; esac\n')
        script.chmod(0o755)

    def quote(self, block, above=""):
        self.write("02-scale/README.md", readme(f"{above}\n```console\n{block}\n```"))

    def outputs(self, *arguments):
        return self.stage("check", "--outputs", "2", *arguments)

    def test_right_output_passes_and_wrong_output_is_shown_as_a_diff(self):
        self.quote("$ ./run.sh a b\ngot a b\n\n$ X=1 ./run.sh fail\noops\n$ ./test.sh\nwhatever")
        status, out, _ = self.outputs()
        self.assertEqual((status, out), (0, "2 quoted commands rerun, 0 rewritten, 0 drifted, 1 not rerun\n"))
        self.quote("$ ./run.sh a b\ngot a c")
        status, out, _ = self.outputs()
        self.assertEqual(status, 1)
        self.assertIn("chapters/02-scale/README.md:5: the output of './run.sh a b' drifted\n", out)
        self.assertIn("    -got a c\n    +got a b\n", out)

    def test_fix_writes_the_real_output(self):
        self.quote("$ ./run.sh a\nold\nolder\n$ ./run.sh lines 3\n$ ./run.sh \\\n    b\ngot c")
        status, out, _ = self.outputs("--fix")
        self.assertEqual((status, out), (0, "3 quoted commands rerun, 3 rewritten, 0 drifted, 0 not rerun\n"))
        self.assertIn("```console\n$ ./run.sh a\ngot a\n$ ./run.sh lines 3\n1\n2\n3\n$ ./run.sh \\\n    b\ngot b\n```\n", self.read("02-scale/README.md"))
        self.assertEqual(self.outputs()[0], 0)

    def test_recorded_blocks_compare_in_form(self):
        self.quote("$ ./run.sh took 12.5 ms in /tmp/abc\ngot took 99 s in /home/me/x.gguf", "<!-- recorded -->")
        self.assertEqual(self.outputs()[0], 0)
        self.quote("$ ./run.sh took 12.5 ms\ngot used 99 ms", "<!-- recorded -->")
        self.assertEqual(self.outputs()[0], 1)
        self.quote("$ ./run.sh took 12.5 ms\ngot took 99 ms")
        self.assertEqual(self.outputs()[0], 1)
        self.quote("$ ./run.sh took 12.5 ms\ngot took 99 ms\n1 more", "<!-- recorded -->")
        self.assertEqual(self.outputs()[0], 1)

    def test_blocks_left_alone(self):
        self.quote("$ ./run.sh a\nanything", "<!-- not rerun: needs a GPU -->")
        self.assertEqual(self.outputs()[:2], (0, "0 quoted commands rerun, 0 rewritten, 0 drifted, 1 not rerun\n"))

    def test_the_front_matter_is_checked_with_all_chapters_only(self):
        (self.root / "docs").mkdir()
        for place in ("README.md", "docs/models.md"):
            (self.root / place).write_text("```console\n$ ./run.sh a\ngot b\n```\n")
        self.quote("$ ./run.sh a\ngot a")
        self.assertEqual(self.outputs()[0], 0)
        status, out, _ = self.stage("check", "--outputs")
        self.assertEqual(status, 1)
        self.assertIn("README.md:2: the output of './run.sh a' drifted\n", out)
        self.assertIn("docs/models.md:2: the output", out)
        self.assertIn("3 quoted commands rerun, 0 rewritten, 2 drifted", out)

    def test_cuts_are_kept(self):
        self.quote("$ ./run.sh lines 9\n1\n…\n8\n9")
        self.assertEqual(self.outputs()[0], 0)
        self.quote("$ ./run.sh lines 9\n0\n…\n7")
        self.assertEqual(self.outputs()[0], 1)
        self.assertEqual(self.outputs("--fix")[0], 0)
        self.assertIn("$ ./run.sh lines 9\n1\n…\n9\n```", self.read("02-scale/README.md"))

    def test_a_command_that_hangs_is_ended(self):
        from rung_tools.errors import ToolError
        with self.assertRaisesRegex(ToolError, "did not end within"):
            run_command("./run.sh slow", self.root, timeout=0.3)


class OutputMatch(unittest.TestCase):
    def test_ellipsis_lines(self):
        self.assertTrue(matches(["a", "…", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(matches(["a", "...", "b"], ["a", "b"]))
        self.assertTrue(matches(["…", "b", "…"], ["b", "b", "c"]))
        self.assertFalse(matches(["a", "…", "c"], ["a", "b", "c", "d"]))
        self.assertFalse(matches(["a", "…"], ["b", "a"]))
        self.assertTrue(matches(["a  ", "", ""], ["a"]))
        self.assertFalse(matches([" a"], ["a"]))

    def test_masks(self):
        same = lambda a, b: self.assertTrue(matches([a], [b], recorded=True), (a, b))
        other = lambda a, b: self.assertFalse(matches([a], [b], recorded=True), (a, b))
        same("decode  41.2 tok/s   3.1 GB/s", "decode 140 tok/s 10.25 GB/s")
        same("1.2 ms", "900 us")
        same("hash 0x1f", "hash 0xabc")
        same("hash 9f86d081884c7d65", "hash 2c26b46b68ffc68f")
        same("on … with 2 threads", "on AMD EPYC 7B13 with 16 threads")
        same("-1.5e-3 | 2", "0.25 | -7")
        other("f32 rows", "f16 rows")
        other("3 rows", "3 columns")
        other("a b", "a")

    def test_rewriting_keeps_middle_pieces(self):
        real = ["a", "1", "2", "total 30", "x", "z"]
        self.assertEqual(rewritten(["b", "…", "total 7", "…", "z"], real), ["a", "…", "total 30", "…", "z"])
        self.assertIsNone(rewritten(["b", "…", "sum 7", "…", "z"], real))
        self.assertEqual(rewritten(["b"], real), real)

    def test_console_blocks_inside_longer_fences_are_text(self):
        text = "````\n```console\n$ ./run.sh a\n```\n````\n```console\n$ ./run.sh b\nout\n```\n```cpp\n$ ./run.sh c\n```\n"
        self.assertEqual([(q.command, q.output) for q in quoted_commands(text)], [("./run.sh b", ["out"])])


class CommandLine(ChainTest):
    def test_list(self):
        _, out, _ = self.stage("list")
        self.assertRegex(out, r"02\s+scale\s+2\s+10\s+2/0/0\s+Scaling every element at once\n")
        self.assertRegex(out, r"04\s+lists\s+2\s+10\s+1/1/1\s+Lists of four items\n")

    def test_errors_are_one_line(self):
        for arguments, message in ((["diff", "1", "9"], "no chapter 9; there are: 01 02 04 05"), (["propagate"], "propagate needs the number"),
                                   (["check", "--nonsense"], "unrecognized arguments: --nonsense"), ([], "arguments are required: COMMAND")):
            with self.subTest(arguments):
                status, out, err = self.stage(*arguments)
                self.assertEqual((status, out, err.count("\n")), (1, "", 1))
                self.assertIn(message, err)

    def test_colours_are_for_terminals_that_want_them(self):
        import pty
        for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            ours, theirs = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | more
            with os.fdopen(ours, "rb") as terminal:
                subprocess.run([sys.executable, str(REPOSITORY / "tools/stage"), "--root", str(self.root), "diff", "1", "2", "--stat"],
                               stdout=theirs, env=environment, check=True)
                self.assertEqual(b"\033[" in terminal.read1(100000), coloured)
                os.close(theirs)

    def test_the_script_itself(self):
        done = subprocess.run([str(REPOSITORY / "tools/stage"), "--root", str(self.root / "none"), "list"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^tools/stage: .*none/chapters: no such folder[^\n]*\n$")
        done = subprocess.run([str(REPOSITORY / "tools/stage"), "--root", str(self.root), "list"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
