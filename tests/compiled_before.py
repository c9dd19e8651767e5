"""A C++ compiler for tests that remembers what Inductor compiles in every new cache: trials of vector units, and a header of 150 MB.

They take 17 s of a core where a kernel takes one, and many tests need a cache of their own. ``first_on_path`` puts a script named ``g++``
before the compiler. Whatever else it is asked to do, the compiler does.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parent.parent
# set while the script may remember; else it only reads, for a sandbox would report or refuse what it writes
FILLED_BY = "COMPILE_LENS_TEST_COMPILER_FILLS"
FIRST = """\
import torch

torch.compile(lambda x: x.sin() + 1)(torch.ones(8))
"""
SCRIPT = """\
#!{python} -IS
import hashlib, os, shutil, sys

STORE, COMPILER = {store!r}, {compiler!r}


def stored(arguments):
    # the place of what these arguments compile; none for a kernel, and for all else that is compiled once
    if "-o" not in arguments:
        return None
    out = arguments.index("-o") + 1
    source = next((each for each in arguments if each.endswith((".cpp", ".h", ".hpp")) and os.path.isfile(each)), None)
    if source is None or os.path.getsize(source) > 4096:
        return None
    with open(source) as opened:
        text = opened.read()
    if "_chk_kernel" not in text and not source.endswith((".h", ".hpp")):
        return None
    rest = [each for number, each in enumerate(arguments) if number != out and each != source]
    return os.path.join(STORE, hashlib.sha256(repr((rest, text)).encode()).hexdigest())


def place(source, target):
    aside = f"{{target}}.{{os.getpid()}}"
    try:
        os.link(source, aside)
    except OSError:
        shutil.copyfile(source, aside)
    os.replace(aside, target)


def main(arguments):
    known = stored(arguments)
    if known is None or not (os.path.exists(known) or {fills!r} in os.environ):
        os.execv(COMPILER, [COMPILER, *arguments])
    target = arguments[arguments.index("-o") + 1]
    if not os.path.exists(known):
        code = os.spawnv(os.P_WAIT, COMPILER, [COMPILER, *arguments])
        if code:
            return code
        place(target, known)
        return 0
    place(known, target)
    return 0


sys.exit(main(sys.argv[1:]))
"""


def first_on_path() -> None:
    """Let this process, and those that it starts, find the script before the compiler. The first time it takes 30 s."""
    compiler = shutil.which("g++")
    if compiler is None or sys.platform != "linux":
        return
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    key = hashlib.sha256(f"{version} {importlib.metadata.version('torch')} {sys.prefix} {SCRIPT}".encode()).hexdigest()
    folder = ROOT / ".cache" / "compiled-before" / key[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock").acquire()
    except PermissionError:  # another user's checkout
        return
    with lock:
        os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])
        if not (folder / "filled").exists():
            _fill(folder, compiler)


def _fill(folder: Path, compiler: str) -> None:
    script, cache = folder / "g++", folder / "cache"
    script.write_text(SCRIPT.format(python=sys.executable, store=str(folder), compiler=compiler, fills=FILLED_BY))
    script.chmod(0o755)
    cache.mkdir(exist_ok=True)
    # torch keeps the header in the folder for temporary files, wherever its cache is
    environment = {**os.environ, FILLED_BY: "1", "TORCHINDUCTOR_CACHE_DIR": str(cache), "TMPDIR": str(cache)}
    for headers in ("1", "0"):  # searches of new caches compile without them
        environment["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = headers
        subprocess.run([sys.executable, "-c", FIRST], env=environment, check=True)
    shutil.rmtree(cache)
    (folder / "filled").touch()
