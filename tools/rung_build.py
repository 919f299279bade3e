"""Configures and builds one chapter; used by run.sh and by the tests.

  python3 tools/rung_build.py CHAPTER TARGET      prints the folder that then holds the program `rung`

A build stands in $RUNG_BUILD_DIR/KIND/CHAPTER/objects (RUNG_BUILD_DIR: build beside this folder). Beside `objects` are two links, `tree`
to the chapter and `common`, and everything is configured through them: so the compile commands of two chapters that share a
file are the same text, and ccache, where it is installed, serves the second chapter from the first.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(os.path.abspath(__file__)).parent.parent


class BuildError(Exception):
    """what: the step that failed; output: what it printed; log: the file that holds all of it."""

    def __init__(self, what, output="", log=None):
        super().__init__(what)
        self.output = output
        self.log = log


def build_folder():
    return (ROOT / os.environ.get("RUNG_BUILD_DIR", "build")).absolute()


def gpu_answers():
    """Whether this machine has nvcc and a GPU that works."""
    if not (shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc")) or not shutil.which("nvidia-smi"):
        return False
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return listed.returncode == 0 and "GPU 0" in listed.stdout


class Build:
    """One folder of builds: kind is test (optimised, CUDA emulated), gpu (nvcc), or a sanitizer: address, thread."""

    def __init__(self, kind, definitions=(), folder=None, limit=None):
        """folder: another place to build in than build/KIND; limit: seconds that one step may take."""
        self.kind = kind
        self.folder = folder or build_folder() / kind
        self.limit = limit
        self.definitions = ["-DRUNG_CUDA=" + ("toolkit" if kind == "gpu" else "emulated"), f"-DRUNG_FIXTURES={ROOT}/tests/fixtures"]
        if kind in ("address", "thread"):
            self.definitions += [f"-DRUNG_SANITIZE={kind}", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
        else:
            self.definitions += ["-DCMAKE_BUILD_TYPE=Release"]
        if shutil.which("ccache"):
            self.definitions += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
            if kind == "gpu":
                self.definitions += ["-DCMAKE_CUDA_COMPILER_LAUNCHER=ccache"]
        self.definitions += definitions

    def build(self, name, source, targets, extra=(), progress=None, starting=None):
        """Configures (when anything of it changed) and builds; returns the folder of the objects.

        starting is called once it is sure that this is no repetition; progress gets each line that ninja prints.
        """
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two at once build one after the other
            for link, target in (("tree", source), ("common", ROOT / "common")):
                _link(folder / link, target)
            objects = folder / "objects"
            environment = dict(os.environ, CCACHE_DIR=str(build_folder() / "ccache"), CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1",
                               CCACHE_MAXSIZE="5G", CCACHE_SLOPPINESS="time_macros", NINJA_STATUS="[%f/%t] ")
            environment.pop("CLICOLOR_FORCE", None)
            configure = ["cmake", "-S", str(folder / "tree"), "-B", str(objects), "-G", "Ninja", f"-DRUNG_COMMON_DIR={folder}/common",
                         *self.definitions, *extra]
            stamp = folder / "configured"
            known = stamp.read_text() if stamp.is_file() and (objects / "build.ninja").is_file() else None
            if known != "\n".join(configure):
                if starting:
                    starting()
                stamp.unlink(missing_ok=True)
                if known is not None or (objects / "CMakeCache.txt").is_file():
                    shutil.rmtree(objects)  # the cache would keep what the new command leaves out
                self._run(configure, folder, environment, f"{name}: cmake failed", None)
                stamp.write_text("\n".join(configure))
            elif starting and not (objects / "rung").exists():
                starting()
            self._run(["cmake", "--build", str(objects), "--target", *targets], folder, environment, f"{name}: the build failed", progress)
            return objects

    def _run(self, command, folder, environment, what, progress):
        log = folder / "build.log"
        try:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=self.limit is not None)
        except FileNotFoundError:
            raise BuildError(f"{command[0]} is not installed") from None
        late = threading.Event()

        def stop():
            late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # ninja then ends its compilers, each of which has a group of its own
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(self.limit, stop) if self.limit is not None else None
        if timer:
            timer.start()
        lines = []
        try:
            with log.open("w") as out, process:
                try:
                    for line in process.stdout:
                        out.write(line)
                        lines.append(line)
                        if progress:
                            progress(line.rstrip())
                except BaseException:  # Ctrl-C, say: what runs in a session of its own does not see it
                    if self.limit is not None:
                        stop()
                    raise
        finally:
            if timer:
                timer.cancel()
        if late.is_set():
            raise BuildError(f"{what}: it took more than {self.limit:.0f} s", "".join(lines), log)
        if process.returncode != 0:
            raise BuildError(what, "".join(lines), log)


def _link(link, target):
    wanted = str(target)
    if link.is_symlink() and os.readlink(link) == wanted:
        return
    with contextlib.suppress(FileNotFoundError):
        link.unlink()
    link.symlink_to(wanted)


def relevant(output, limit):
    """The last lines of a failed build, from the first error on where there is one."""
    lines = output.rstrip().splitlines()
    first = next((i for i, line in enumerate(lines) if "FAILED:" in line or "error:" in line or "CMake Error" in line), len(lines) - limit)
    return "\n".join(lines[max(0, first):][:limit])


def main():
    """For run.sh: builds the chapter for this machine, says on stderr what it does, and prints where the program stands."""
    name, target = sys.argv[1:]
    quiet = bool(os.environ.get("RUNG_QUIET"))
    gpu = gpu_answers()

    def say(text):
        print(f"rung: {text}", file=sys.stderr, flush=True)

    def starting():
        if not quiet:
            say(f"building chapters/{name} for {'the GPU' if gpu else 'the CPU (no nvcc with a working GPU here)'}: a minute or two, once")

    def progress(line):
        if line.startswith("["):
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)

    terminal = sys.stderr.isatty() and not quiet
    try:
        objects = Build("gpu" if gpu else "test").build(name, ROOT / "chapters" / name, [target], progress=progress if terminal else None,
                                                        starting=starting)
    except BuildError as error:
        if terminal:
            print("\r\033[K", end="", file=sys.stderr)
        if error.output:
            print(relevant(error.output, 30), file=sys.stderr)
        say(str(error) + (f"; all of its output: {error.log}" if error.log else ""))
        return 1
    except OSError as error:
        say(f"cannot build in {error.filename or build_folder()}: {error.strerror}; set RUNG_BUILD_DIR to a folder that can be written")
        return 1
    except KeyboardInterrupt:
        return 130
    if terminal:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print(objects)
    return 0


if __name__ == "__main__":
    sys.exit(main())
