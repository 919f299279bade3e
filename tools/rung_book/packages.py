"""Python packages that only the book needs, installed into the build folder once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rung_tools.errors import ToolError

REQUIREMENTS = Path(os.path.abspath(__file__)).parent / "requirements.txt"


def installed(build, name="book", requirements=REQUIREMENTS):
    """The folder under `build` that holds the packages of a requirements file; they are installed when they are missing or were others.

    Throws ToolError without a network, or where RUNG_NO_INSTALL=1 forbids it.
    """
    folder = Path(build) / "python" / name
    wanted = requirements.read_text(encoding="utf-8")
    stamp = folder / "requirements.txt"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return folder
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(folder), "-r", str(requirements)]
    if os.environ.get("RUNG_NO_INSTALL") == "1":
        raise ToolError(f"Python packages are missing, and RUNG_NO_INSTALL=1 forbids installing them. Run: {' '.join(command)}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"tools/book: installing {name} packages into {folder}", file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["pip failed"])[-1]
        raise ToolError(f"{requirements.name}: the packages could not be installed: {last}")
    stamp.write_text(wanted, encoding="utf-8")
    return folder
