"""A home directory, a workspace and services that belong to nobody, for programs that would harm them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path

from bystanders import Bystanders, attributes

SECRET = "-----BEGIN OPENSSH PRIVATE KEY----- planted, of no use"
BESIDE = "raise RuntimeError('a module of the workspace was imported in the place of another')\n"


class Planted:
    """The places, and what they were like before. Services count who reaches them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        self.caches = folder / "caches"
        self.file = self.home / "thesis.tex"
        self.other = self.home / "results.csv"
        self.key = self.home / ".ssh" / "id_ed25519"
        self.token = self.home / ".cache" / "huggingface" / "token"
        self.remote = self.home / "remote.git"
        self._workspaces = folder / "work"
        for path, text in ((self.file, "Chapter 1"), (self.other, "1,2,3"), (self.key, SECRET), (self.token, SECRET)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.home / ".bashrc").write_text("# mine\n")
        for path in (self.temporary, self.caches, self._workspaces):
            path.mkdir()
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(self._listener.getsockname())
        self.socket = self.home / "service.sock"
        self._by_file = socket.socket(socket.AF_UNIX)
        # a socket's name has at most 107 bytes; the folder of a test may have more
        before = Path.cwd()
        os.chdir(self.home)
        self._by_file.bind("service.sock")
        os.chdir(before)
        self._by_file.listen()
        self._services = (self._listener, self._datagrams, self._by_file)
        for service in self._services:
            service.setblocking(False)
        with contextlib.suppress(OSError):  # a file system without them
            os.setxattr(self.file, "user.kept", b"mine")
        self._folder = folder
        self.bystanders = Bystanders({**os.environ, "PASSWORD": SECRET})

    @property
    def environment(self) -> dict[str, str]:
        """Of the standby: everything that leads home leads here."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HF_"))}
        here = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "COMPILE_LENS_CACHE_DIR": str(self.caches)}
        doors = {"SSH_AUTH_SOCK": str(self.socket), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.socket}"}
        return {**kept, **here, **doors}

    def workspace(self, name: str, program: str, beside: list[str]) -> Path:
        """A folder with the program, and what it knows of this place; the program's file. Those of programs before it go."""
        for other in self._workspaces.iterdir():
            shutil.rmtree(other, ignore_errors=True)
        folder = self._workspaces / name
        folder.mkdir()
        names = ("home", "file", "other", "key", "token", "remote", "socket")
        lines = [f"{word} = {str(getattr(self, word))!r}" for word in names]
        lines += [f"service = {self._listener.getsockname()!r}", f"bystander = {self.bystanders.process.pid}"]
        lines += [f"network = {str(Path('/proc/self/ns/net').readlink())!r}"]
        beside_files = ("terminal", "segment", "messages", "semaphores", "queue", "abstract")
        lines += [f"{word} = {getattr(self.bystanders, word)!r}" for word in beside_files]
        # without a home of its own no program here does anything
        lines += ["import posixpath", "assert posixpath.expanduser('~') == home"]
        (folder / "planted.py").write_text("\n".join(lines) + "\n")
        for other in beside:
            (folder / f"{other}.py").write_text(BESIDE)
        file = folder / f"{name}.py"
        file.write_text(program)
        return file

    def state(self, standby: int | None) -> dict[str, object]:
        """Everything that an analysis must leave as it is.

        Of files names, kinds, modes, owners, times, attributes and contents; of folders around them the modes; and the bystanders.
        """
        roots = (self.home, self._workspaces, self.temporary)
        found: dict[str, object] = dict(self.bystanders.state(standby))
        found.update((str(path), path.stat().st_mode) for path in (self._folder, *self._folder.parents))
        for path in (path for root in roots for path in (root, *root.rglob("*"))):
            status = path.lstat()
            # a folder's time changes when the next workspace is made in it
            time = None if path in (self._workspaces, self.temporary) else status.st_mtime_ns
            found[str(path)] = (status.st_mode, status.st_uid, time, attributes(path), _content(path, status))
        return found

    def visited(self) -> bool:
        """Whether anybody has reached a service."""
        for service in self._services:
            try:
                service.recv(1) if service is self._datagrams else service.accept()
            except BlockingIOError:
                continue
            return True
        return False

    def close(self) -> None:
        """Close the services, and end the bystanders."""
        self.bystanders.close()
        for service in self._services:
            service.close()


def _content(path: Path, status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
