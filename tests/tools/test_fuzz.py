"""tools/fuzz: its targets, their seeds, and what docs/reliability.md says of them. Nothing is compiled or fuzzed here.

Run: python3 -m unittest discover tests/tools
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "fuzz"))

import make_seeds  # noqa: E402

TARGETS = {path.stem.removeprefix("fuzz_") for path in (REPOSITORY / "tests" / "fuzz").glob("fuzz_*.cpp")}


class Fuzz(unittest.TestCase):
    def test_every_target_has_seeds_and_a_line_in_the_documentation(self):
        with tempfile.TemporaryDirectory() as folder:
            make_seeds.write_seeds(folder)
            seeded = {path.name for path in Path(folder).iterdir() if any(path.iterdir())}
        self.assertEqual(seeded, TARGETS)
        text = (REPOSITORY / "docs" / "reliability.md").read_text()
        for target in TARGETS:
            self.assertIn(f"| `{target}` |", text)

    def test_a_wrong_target_is_one_line(self):
        done = subprocess.run([sys.executable, REPOSITORY / "tools" / "fuzz", "ggfu"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn("there is no target ggfu; there are: chat, config, gguf, ", done.stderr)


if __name__ == "__main__":
    unittest.main()
