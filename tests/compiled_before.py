"""A C++ compiler for tests that remembers what Inductor compiles in every new cache.

These are trials of vector units and a header of 150 MB, which take 17 s of a core, and kernels, which take one or two. Most workspaces have
a cache of their own, and each test has a new workspace. ``first_on_path`` puts a script named ``g++`` before the compiler. Whatever else
it is asked to do, the compiler does. ``keep_kernels`` adds the kernels that runs have compiled.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

from filelock import FileLock

from compile_lens.workers.caches import cache_root

ROOT = Path(__file__).parent.parent
# set while the script may remember; else it only reads, for a sandbox would report or refuse what it writes
FILLED_BY = "COMPILE_LENS_TEST_COMPILER_FILLS"
# where the runs of tests compile; no user's
CACHES = "COMPILE_LENS_CACHE_DIR"
# linking a kernel takes less
WRITTEN_S = 3.0
FIRST = """\
import torch

torch.compile(lambda x: x.sin() + 1)(torch.ones(8))
"""
SCRIPT = """\
#!{python} -IS
import hashlib, os, re, shutil, sys

STORE, COMPILER = {store!r}, {compiler!r}


def stored(arguments):
    # the place of what these arguments compile; none for what is compiled once
    if "-o" not in arguments:
        return None
    out = arguments.index("-o") + 1
    # torch names a kernel for its source and the options of the compiler; a step of a search compiles beside it first
    kernel = re.fullmatch(r"(?:\\d+-)?(c[a-z2-7]{{40,}}\\.main\\.so)", os.path.basename(arguments[out]))
    if kernel:
        return os.path.join(STORE, "kernels", kernel[1])
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
        # a program may change a kernel of its own
        (shutil.copy if source.endswith(".main.so") else os.link)(source, aside)
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


_kernels: list[Path] = []
_looked_at: dict[str, int] = {}


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
    if CACHES in os.environ:
        _kernels.append(folder / "kernels")
        _looked_at.update(_caches())


def keep_kernels() -> None:
    """Remember the kernels that came into the private caches. The runs themselves cannot, since most are in a sandbox.

    Hostile programs have other caches.
    """
    for store in _kernels:
        for cache, changed in _caches().items():
            if _looked_at.get(cache) != changed:
                new = [file for file in cache.glob("??/c*.main.so") if not (store / file.name).exists()]
                # a test beside this one may clear its cache meanwhile
                for kernel in [file for file in new if file.exists()]:
                    with contextlib.suppress(FileNotFoundError):
                        if _is_whole(kernel):
                            aside = store / f"{kernel.name}.{os.getpid()}"
                            shutil.copy(kernel, aside)
                            aside.replace(store / kernel.name)
                            new.remove(kernel)
                if not new:
                    _looked_at[cache] = changed


def _caches() -> dict[Path, int]:
    """The private caches, and when each changed last."""
    folder = cache_root(os.environ) / "inductor"
    if not folder.is_dir():
        return {}
    found = {}
    for cache in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[cache] = cache.stat().st_mtime_ns
    return found


def _is_whole(library: Path) -> bool:
    """Whether the linker is done with it: the table at the end of an ELF file is written last."""
    head = library.read_bytes()[:64]
    if len(head) < 64 or time.time() - library.stat().st_mtime < WRITTEN_S:
        return False
    (table,) = struct.unpack_from("<Q", head, 40)
    size, count = struct.unpack_from("<HH", head, 58)
    return bool(table) and library.stat().st_size >= table + size * count


def _fill(folder: Path, compiler: str) -> None:
    script, cache = folder / "g++", folder / "cache"
    script.write_text(SCRIPT.format(python=sys.executable, store=str(folder), compiler=compiler, fills=FILLED_BY))
    script.chmod(0o755)
    cache.mkdir(exist_ok=True)
    (folder / "kernels").mkdir(exist_ok=True)
    # torch keeps the header in the folder for temporary files, wherever its cache is
    environment = {**os.environ, FILLED_BY: "1", "TORCHINDUCTOR_CACHE_DIR": str(cache), "TMPDIR": str(cache)}
    for headers in ("1", "0"):  # searches of new caches compile without them
        environment["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = headers
        subprocess.run([sys.executable, "-c", FIRST], env=environment, check=True)
    shutil.rmtree(cache)
    (folder / "filled").touch()
