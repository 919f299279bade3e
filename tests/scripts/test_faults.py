"""What the newest chapter's program does when something goes wrong around it: a file that shrinks, a reader that leaves, a signal, too
little memory, folders that cannot be written or are spelled unusually. Each time: it ends promptly, with a status and one line that say why.

Run: python3 -m unittest discover tests/scripts
"""

import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

from rung_build import Build, build_folder  # noqa: E402

FIXTURES = REPOSITORY / "tests" / "fixtures"
MODEL = REPOSITORY / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
CHAPTERS = sorted((REPOSITORY / "chapters").glob("[0-9][0-9]-*"))
PROMPT_S = 10  # what "promptly" means on a busy machine
MB = 1 << 20


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = str(Build("test").build(CHAPTERS[-1].name, CHAPTERS[-1], ["rung"]) / "rung")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rung faults é ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)

    def copy(self, fixture):
        """A copy of a fixture's file or folder under a name with a space and letters beyond ASCII."""
        path = self.folder / f"größer {fixture}"
        (shutil.copytree if (FIXTURES / fixture).is_dir() else shutil.copy)(FIXTURES / fixture, path)
        return path

    def run_rung(self, *arguments, **options):
        done = subprocess.run([self.program, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
                              **{"cwd": self.folder} | options)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def start(self, *arguments, **options):
        process = subprocess.Popen([self.program, *map(str, arguments)], cwd=self.folder,
                                   **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)

        def end():
            if process.poll() is None:
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def wait(self, process):
        try:
            return process.wait(PROMPT_S)
        except subprocess.TimeoutExpired:
            self.fail(f"{process.args} did not end within {PROMPT_S} s")

    def refused(self, result, *texts):
        """Status 1, nothing on stdout, and one line on stderr that holds the texts, behind which device was chosen."""
        status, out, err = result
        self.assertEqual((status, out), (1, ""), err)
        lines = [line for line in err.splitlines() if not line.startswith("device: ")]
        self.assertEqual(len(lines), 1, err)
        self.assertTrue(lines[0].startswith("rung: "), err)
        for text in texts:
            self.assertIn(text, lines[0])


class TruncatedFile(Faults):
    def chat_then_truncate(self, model, file):
        process = self.start("chat", "-m", model, "--chat-template", "smollm2", "--device", "cpu")
        for line in process.stderr:  # until all is loaded and it waits for a question
            if b"KV cache" in line:
                break
        os.truncate(file, 64)
        out, err = process.communicate(b"Hi\n", timeout=PROMPT_S)
        self.assertEqual((process.returncode, out), (1, b""), err)
        self.assertEqual(err.decode(), f"rung: {file}: a part of it can no longer be read: was the file truncated, or does the disk fail?\n")

    def test_gguf(self):
        model = self.copy("llama-untied.gguf")
        self.chat_then_truncate(model, model)

    def test_safetensors(self):
        model = self.copy("llama-bf16")
        self.chat_then_truncate(model, model / "model.safetensors")


class Memory(Faults):
    def test_a_cache_larger_than_the_memory(self):
        model = self.copy("llama-untied.gguf")
        data = model.read_bytes()
        at = data.index(b"llama.context_length") + len("llama.context_length")
        self.assertEqual(struct.unpack_from("<II", data, at), (4, 512))
        model.write_bytes(data[:at + 4] + struct.pack("<I", 10**9) + data[at + 8:])
        self.refused(self.run_rung("generate", "-m", model, "-p", "a", "--context", 10**9, "--device", "cpu"),
                     "not enough memory: KV cache of 62500000 blocks of 16 tokens (--context, --kv-memory)", ": 953.7 GiB needed, ", " available on this machine")

    def test_weights_larger_than_the_memory(self):
        config = json.loads((FIXTURES / "llama-untied" / "config.json").read_text())
        config |= {"hidden_size": 1 << 15, "intermediate_size": 1 << 17, "num_hidden_layers": 200, "num_attention_heads": 128, "head_dim": 256}
        (self.folder / "config.json").write_text(json.dumps(config))
        self.refused(self.run_rung("bench", "--dummy", "config.json", "--prompt-tokens", 8, "--decode-tokens", 8),
                     "not enough memory: config.json: random weights: ", " TiB needed, ", " available on this machine")

    def test_a_limit_on_address_space(self):
        """Whatever cannot be had, from the mapping of the file to the cache, the error says so."""
        ended = {0: 0, 1: 0}
        for limit in range(24, 400, 16):
            status, out, err = self.run_rung("generate", "-m", FIXTURES / "qwen3.gguf", "-p", "a", "-n", 1, "-t", 2, "--device", "cpu",
                                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * MB, limit * MB)))
            if status == 127:
                continue  # not even its libraries fit
            with self.subTest(limit=limit, err=err):
                self.assertIn(status, (0, 1))
                ended[status] += 1
                if status == 1:
                    self.assertEqual(out, "")
                    self.assertRegex(err.splitlines()[-1], r"^rung: .*(memory|address space|Resource temporarily unavailable)")
        self.assertGreater(min(ended.values()), 0, f"limits with which it fails and with which it does not: {ended}")

    def test_a_file_that_does_not_fit_the_address_space(self):
        model = self.copy("qwen3.gguf")
        os.truncate(model, 1 << 36)
        limit = 1 << 34
        self.refused(self.run_rung("inspect", model, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))),
                     f"{model}: cannot map {1 << 36} bytes: ", " bytes of address space are available (ulimit -v)")

    @unittest.skipUnless(MODEL.exists(), "the default model has not been fetched")
    def test_the_peak_with_the_default_model(self):
        """At most the weights' stored bytes and the cache, 15 %, and 32 MB."""
        status, out, err = self.run_rung("inspect", MODEL, "--tensors", "--json")
        self.assertEqual(status, 0, err)
        weights = MODEL.stat().st_size - json.loads(out)["data_offset"]
        layers, context, kv_width = 30, 2048, 3 * 64
        cache = 2 * layers * context * kv_width * 4
        status, out, err = self.run_rung("generate", "-m", MODEL, "-p", "The capital of France is", "-n", 4, "--context", context,
                                         "--temperature", 0, "--json", "--device", "cpu", "-t", 2)
        self.assertEqual(status, 0, err)
        peak = json.loads(out)["peak_bytes"]
        self.assertGreater(peak, weights // 2 + cache, "the cache is there, and most of the weights have been read")
        self.assertLessEqual(peak, 1.15 * (weights + cache) + 32 * MB)


class Output(Faults):
    def test_a_reader_that_leaves(self):
        commands = (["generate", "-m", FIXTURES / "llama-untied.gguf", "-p", "The river", "-n", 480, "--ignore-eos", "--device", "cpu"],
                    ["inspect", FIXTURES / "llama-mixed.gguf", "--full"])
        for command in commands:
            for restore in (True, False):  # with SIGPIPE as usual, and ignored as by a Python that started us
                with self.subTest(command=command[0], restore=restore):
                    process = self.start(*command, restore_signals=restore)
                    self.assertEqual(len(process.stdout.read(1)), 1)
                    process.stdout.close()
                    self.assertIn(self.wait(process), (-signal.SIGPIPE, 0))  # 0: all was written before
                    self.assertNotIn(b"rung: cannot", process.stderr.read())

    def test_a_full_disk(self):
        for command in (["generate", "-m", FIXTURES / "llama-untied.gguf", "-p", "The river", "-n", 100000], ["inspect", FIXTURES / "qwen3.gguf"],
                        ["--help"], ["generate", "--help"]):
            with self.subTest(command=command[0]), open("/dev/full", "w") as full:
                done = subprocess.run([self.program, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PROMPT_S, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertTrue(done.stderr.endswith("rung: cannot write to standard output (closed pipe or full disk?)\n"), done.stderr)


class Signals(Faults):
    def commands(self):
        text = self.folder / "text"
        text.write_text("She counts the rungs of the ladder. " * 20000)
        config = FIXTURES / "llama-untied" / "config.json"
        model = ["-m", FIXTURES / "llama-untied.gguf"]
        return {
            "generate": ["generate", *model, "-p", "The river", "-n", 480, "--ignore-eos", "--device", "cuda"],
            "prefill": ["generate", *model, "-p", "a " * 400, "-n", 1, "--step-tokens", 4, "--device", "cuda"],
            "chat": ["chat", *model, "--chat-template", "smollm2"],
            "bench": ["bench", "--dummy", config, "--repeat", 1000, "--no-roofline", "--prompt-tokens", 300],
            "perplexity": ["perplexity", *model, "--file", text],
            "inspect": ["inspect", *model, "--full"],
        }

    def test_at_any_time(self):
        """Ctrl-C and SIGTERM, early (while the program starts and loads) and later (in the middle of its work)."""
        for name, command in self.commands().items():
            for number in (signal.SIGINT, signal.SIGTERM):
                for delay in (0.01, 0.4):
                    with self.subTest(name, number=number.name, delay=delay):
                        process = self.start(*command)
                        time.sleep(delay)
                        process.send_signal(number)
                        if name == "chat" and number == signal.SIGINT:
                            time.sleep(0.2)
                            process.send_signal(number)  # the first one clears what has been typed
                        status = self.wait(process)
                        allowed = {-number, 128 + number}
                        if name == "inspect" or (delay > 0.1 and name in ("generate", "prefill")):
                            allowed.add(0)  # a quick machine was done before
                        self.assertIn(status, allowed, process.stderr.read())
                        self.assertNotIn(b"terminate called", process.stderr.read())

    def test_a_second_one_does_not_wait(self):
        """In a conversation the first Ctrl-C stops the answer once the pass over the question is done, the second the program."""
        process = self.start(*self.commands()["chat"], "--device", "cuda")
        for line in process.stderr:
            if b"KV cache" in line:
                break
        process.stdin.write(b"a " * 200 + b"\n")  # many seconds on the emulator
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        # On a quick machine the pass was done before: then it is back at its prompt, where two in a row end it.
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(3)
                break
            except subprocess.TimeoutExpired:
                pass
        self.assertIn(self.wait(process), (-signal.SIGINT, 130))

    def test_the_terminal_is_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                controller, terminal = pty.openpty()
                before = termios.tcgetattr(terminal)
                process = self.start(*self.commands()["chat"], stdin=terminal, stdout=terminal, stderr=terminal)
                shown = b""
                while b"> " not in shown:
                    shown += os.read(controller, 4096)
                process.send_signal(number)
                if number == signal.SIGINT:
                    time.sleep(0.2)
                    process.send_signal(number)
                self.assertIn(self.wait(process), (-number, 128 + number))
                self.assertEqual(termios.tcgetattr(terminal), before)
                os.close(controller)
                os.close(terminal)


class Surroundings(Faults):
    def generates(self, model, before=(), **options):
        done = subprocess.run([*before, self.program, "generate", "-m", str(model), "-p", "The river turns", "-n", "5", "--temperature", "0", "--device", "cpu"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, **options)
        self.assertEqual((done.returncode, done.stdout), (0, ")der than than ladder\n"), done.stderr)

    def test_no_home_and_no_other_variable(self):
        self.generates(FIXTURES / "llama-untied.gguf", env={})

    def test_a_working_directory_that_cannot_be_written_or_is_gone(self):
        sealed = self.folder / "sealed"
        sealed.mkdir()
        shutil.copy(FIXTURES / "llama-untied.gguf", sealed / "m.gguf")
        sealed.chmod(0o555)
        words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
        usable = subprocess.run([*words, self.program, "--help"], capture_output=True, check=False).returncode == 0
        self.generates("m.gguf", before=words if usable else [], cwd=sealed)
        gone = self.folder / "gone"
        gone.mkdir()
        self.generates(FIXTURES / "llama-untied.gguf", before=["sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "$@"', "sh"])

    def test_names_with_spaces_and_other_letters(self):
        for name in ("llama-untied.gguf", "llama-untied"):
            model = self.copy(name)
            self.generates(model)
            status, out, err = self.run_rung("inspect", model, "--json")
            self.assertEqual(status, 0, err)
            self.assertEqual(json.loads(out)["path"], str(model))
        prompt = self.folder / "eine Frage – “naïve”.txt"
        prompt.write_text("The river turns")
        status, _, err = self.run_rung("generate", "-m", FIXTURES / "llama-untied.gguf", "--prompt-file", prompt, "-n", 1)
        self.assertEqual(status, 0, err)
        prompt.unlink()
        self.refused(self.run_rung("generate", "-m", FIXTURES / "llama-untied.gguf", "--prompt-file", prompt), str(prompt))

    def test_the_repository_itself_in_such_a_folder(self):
        """run.sh builds chapter 05, kernels translated and all, where every path has a space and letters beyond ASCII."""
        root = self.folder / "my Rung ü"
        for part in ("common", "tools", "chapters/05-embedding"):
            shutil.copytree(REPOSITORY / part, root / part)
        shutil.copy(REPOSITORY / "run.sh", root)
        (root / "build").mkdir()
        (build_folder() / "ccache").mkdir(exist_ok=True)
        (root / "build" / "ccache").symlink_to(build_folder() / "ccache")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RUNG_")} | {"RUNG_NO_INSTALL": "1"}
        done = subprocess.run([root / "run.sh", "trace", "embedding", "-m", FIXTURES / "llama-untied.gguf", "--text", "Hi", "--device", "cuda"],
                              cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
        if "packages are missing" in done.stderr:
            self.skipTest("packages are missing")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("== embedding", done.stdout)


if __name__ == "__main__":
    unittest.main()
