"""Runs a command as an ordinary user of a machine where the tests run as root: ``python ordinary_user.py [--mounts] COMMAND…``.

It works in mount namespaces of its own, where the interpreter and this repository can be reached even below a closed home directory. With
``--mounts``, file systems with sockets are mounted inside the user's home, the temporary folder and ``/run``.
"""

from __future__ import annotations

import codecs
import os
import shutil
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "server"))
from compile_lens.agent.sandbox import kernel  # noqa: E402 - where it is, is known from here on

USER = 54321
HOME = Path("/tmp/ordinary-user")
NEW_MOUNTS, BIND, RECURSIVE, PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
MOUNTS = (HOME / "mounted", Path("/tmp/mounted"), Path("/run/mounted"))
SOCKETS = (*(folder / "service.sock" for folder in MOUNTS), HOME / "own.sock", Path("/run/own.sock"))


def needed() -> list[Path]:
    """Folders that the command reads: interpreter, environment, repository."""
    found = {Path(os.path.realpath(path)) for path in (sys.prefix, sys.base_prefix, REPOSITORY, REPOSITORY / ".venv")}
    return sorted(path for path in found if path.is_dir() and not any(other in path.parents for other in found))


def open_the_way(paths: list[Path]) -> None:
    """Replace folders around ``paths`` that are closed to others, and ``/tmp``, by open ones with nothing else in them."""
    handles = {path: os.open(path, os.O_PATH) for path in paths}
    closed = {Path("/tmp")}
    for path in paths:
        closed |= set([around for around in reversed(path.parents) if not around.stat().st_mode & 1][:1])
    for folder in closed:
        kernel.mount("tmpfs", str(folder), "tmpfs", 0, "mode=1777" if folder == Path("/tmp") else "mode=755")
    for path, handle in handles.items():
        if any(folder in path.parents for folder in closed):
            path.mkdir(parents=True)
            kernel.mount(f"/proc/self/fd/{handle}", str(path), None, BIND | RECURSIVE)


def mount_inside() -> list[socket.socket]:
    """Mount file systems inside folders that are covered, and listen in each."""
    kernel.mount("tmpfs", "/run", "tmpfs", 0, "mode=755")
    for folder in MOUNTS:
        folder.mkdir(parents=True)
        kernel.mount("tmpfs", str(folder), "tmpfs", 0, "mode=777")
        (folder / "data").write_text("mounted")
    listening = []
    for path in SOCKETS:
        listening.append(socket.socket(socket.AF_UNIX))
        listening[-1].bind(str(path))
        path.chmod(0o777)
        listening[-1].listen()
        listening[-1].set_inheritable(True)
    return listening


def as_ordinary_user(check: Callable[[], None], folder: Path) -> None:
    """Make ``check`` in a process that may not look into everything, in ``folder``; it must raise nothing."""
    folder.chmod(0o777)
    codecs.lookup("ascii")  # from where that user cannot read everywhere
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            if os.geteuid() == 0:
                become_user()
            check()
            code = 0
        except Exception:  # an assertion
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def become_user() -> None:
    """Be the user from here on."""
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def main(arguments: list[str]) -> None:
    """Become the user, and the command."""
    kernel.unshare(NEW_MOUNTS)
    kernel.mount(None, "/", None, RECURSIVE | PRIVATE)
    open_the_way(needed())
    HOME.mkdir()
    (HOME / ".bashrc").write_text("# mine\n")
    (HOME / "folder").mkdir()
    if arguments[0] == "--mounts":
        arguments = arguments[1:]
        mount_inside_sockets = mount_inside()
        assert mount_inside_sockets
    for path in (HOME, *HOME.rglob("*")):
        shutil.chown(path, USER, USER)
    os.chdir(REPOSITORY)
    become_user()
    changed = {
        "HOME": str(HOME),
        "TMPDIR": "/tmp",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COMPILE_LENS_CACHE_DIR": f"{HOME}/caches",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HF_"))}
    os.execve(arguments[0], arguments, {**kept, **changed})


if __name__ == "__main__":
    main(sys.argv[1:])
