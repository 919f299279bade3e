"""docs/performance.md says what the files of measurements say.

Run: python3 -m unittest discover tests/tools
"""

import subprocess
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


class Performance(unittest.TestCase):
    def test_every_table_is_what_the_measurements_give(self):
        printed = subprocess.run([sys.executable, str(REPOSITORY / "tools" / "performance"), "tables"], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows = [line for line in printed.splitlines() if line.startswith("|")]
        self.assertGreater(len(rows), 50)
        text = (REPOSITORY / "docs" / "performance.md").read_text()
        self.assertEqual([row for row in rows if row not in text.splitlines()], [])
        self.assertEqual([line for line in text.splitlines() if line.startswith("|") and line not in rows], [])


if __name__ == "__main__":
    unittest.main()
