#!/usr/bin/env python3
"""Fetches tokenizer vocabularies with expected ids, and chat templates, into models/vocabularies/.

  tests/reference/fetch_vocabularies.py [--archive llama_cpp_python-0.3.36.tar.gz]

They stand in the source package of llama-cpp-python on PyPI, which pip downloads (77 MB, checked against the SHA-256 below;
not kept). Tests that use them are skipped where they are not there. --archive takes a copy that is already on disk.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NAME, VERSION = "llama-cpp-python", "0.3.36"
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
INSIDE = "llama_cpp_python-0.3.36/vendor/llama.cpp/models/"
VOCABULARIES = ["gpt-2", "qwen2", "llama-bpe"]
TEMPLATES = ["Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B", "meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct"]
FILES = [f"ggml-vocab-{v}.gguf{end}" for v in VOCABULARIES for end in ("", ".inp", ".out")]
FILES += [f"templates/{t}.jinja" for t in TEMPLATES]


def download(folder):
    # pip asks the package for its metadata, for which it installs the package's build system in a place of its own.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-binary", NAME, "--dest", folder, f"{NAME}=={VERSION}"]
    result = subprocess.run(command, capture_output=True, text=True)
    archives = list(Path(folder).glob("*.tar.gz"))
    if not archives:
        sys.exit(f"fetch_vocabularies: pip did not download {NAME} {VERSION}: {result.stderr.strip().splitlines()[-1:]}")
    return archives[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", type=Path)
    arguments = parser.parse_args()
    target = Path(__file__).resolve().parents[2] / "models" / "vocabularies"
    if all((target / Path(file).name).is_file() for file in FILES):
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = arguments.archive or download(folder)
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != SHA256:
            sys.exit(f"fetch_vocabularies: {archive.name} has the SHA-256 {found}, expected {SHA256}")
        unpacked = Path(folder) / "files"
        unpacked.mkdir()
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.name.startswith(INSIDE) and member.name[len(INSIDE):] in FILES:
                    with open(unpacked / Path(member.name).name, "wb") as out:
                        shutil.copyfileobj(tar.extractfile(member), out)
        missing = [file for file in FILES if not (unpacked / Path(file).name).is_file()]
        if missing:
            sys.exit(f"fetch_vocabularies: {archive.name} lacks {', '.join(missing)}")
        target.mkdir(parents=True, exist_ok=True)
        for file in unpacked.iterdir():  # each appears whole or not at all
            shutil.move(file, target / (file.name + ".tmp"))
            (target / (file.name + ".tmp")).rename(target / file.name)


if __name__ == "__main__":
    main()
