"""Lets the server for assistants read what is unsaved in an editor: a socket for each workspace that answers with the text of a file.

It is in the user's runtime directory (else the cache), in a folder that nobody else can enter, and does nothing but answer. Not available
on Windows.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

from compile_lens.user_folders import cache_folder

# of a request and of an answer, in bytes
LONGEST_REQUEST = 16_384
LONGEST_ANSWER = 64_000_000
PATIENCE_S = 2.0
YOUNG_S = 60.0
# at a time; a program in a sandbox without namespaces may reach the socket, too
MOST_CONVERSATIONS = 4
TextOf = Callable[[str], str | None]


def sockets_folder() -> Path:
    """Where the sockets are: in the runtime directory that the system made for the user, else in the user's cache."""
    made = os.environ.get("XDG_RUNTIME_DIR") or (f"/run/user/{os.getuid()}" if sys.platform == "linux" else "")
    if os.path.isabs(made) and Path(made).is_dir():  # noqa: PTH117
        return Path(made) / "compile-lens"
    return cache_folder() / "sockets"


def socket_of(root: Path) -> Path:
    """The socket of the workspace ``root``."""
    return sockets_folder() / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:24]}.sock"


def _is_own(path: Path, kind: Callable[[int], bool]) -> bool:
    """Whether ``path`` is what it should be, no link, the user's own, and closed to all others."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return kind(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


class SharedTexts:
    """The socket of one workspace. ``text_of`` gives the unsaved text of a file, None if there is none to give."""

    def __init__(self, root: Path, text_of: TextOf) -> None:
        self._root = root
        self._text_of = text_of
        self._server: asyncio.AbstractServer | None = None
        self._conversations = 0
        self._made: tuple[int, int] | None = None

    async def start(self) -> bool:
        """Answer from now on. Returns whether that is possible: the first editor of a workspace answers for it."""
        if sys.platform == "win32":
            return False
        path = socket_of(self._root)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(path.parent, stat.S_ISDIR) or await _answers(path):
                return False
            path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, path, limit=LONGEST_REQUEST)
            self._made = _identity(path)
            path.chmod(0o600)
            await _delete_abandoned(path.parent)
        except OSError:  # no such folder can be made: assistants read what is saved
            await self.close()
            return False
        return True

    async def close(self) -> None:
        """Answer no more."""
        if self._server is not None:
            self._server.close()
            self._server = None
            path = socket_of(self._root)
            with contextlib.suppress(OSError):
                # another editor may answer by now
                if self._made == _identity(path):
                    path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._conversations == MOST_CONVERSATIONS:
            writer.transport.abort()
            return
        self._conversations += 1
        try:
            await self._answer(reader, writer)
        finally:
            self._conversations -= 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        text = None
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError, asyncio.TimeoutError):
            asked = json.loads(await asyncio.wait_for(reader.readline(), PATIENCE_S))
            file = str(asked["file"])
            if _is_in(file, self._root):
                text = self._text_of(file)
        writer.write(json.dumps({"text": text}).encode() + b"\n")
        writer.close()
        try:
            await asyncio.wait_for(writer.wait_closed(), PATIENCE_S)
        except asyncio.TimeoutError:
            writer.transport.abort()  # what somebody asks for and does not read is not kept
        except OSError:
            pass


async def _delete_abandoned(folder: Path) -> None:
    """Delete the sockets of servers that were killed. One that begins to answer just now is younger."""
    for path in await asyncio.to_thread(lambda: list(folder.glob("*.sock"))):
        with contextlib.suppress(OSError):
            is_old = time.time() - path.lstat().st_mtime > YOUNG_S
            if is_old and _is_own(path, stat.S_ISSOCK) and not await _answers(path):
                path.unlink()


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


def _is_in(file: str, root: Path) -> bool:
    """Whether ``file`` is in ``root``, also where links and ``..`` lead: permission is given by the folder."""
    named = Path(file)
    if ".." in named.parts or not named.is_relative_to(root):
        return False
    return Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root))


async def _answers(path: Path) -> bool:
    if sys.platform == "win32" or not _is_own(path, stat.S_ISSOCK):
        return False
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except OSError:
        return False
    writer.close()
    return True


async def unsaved_text(root: Path, file: str) -> str | None:
    """The text of ``file`` in an editor that has ``root`` open, if it differs from the one on disk; None if no editor says so."""
    if sys.platform == "win32":
        return None
    path = socket_of(root)
    if not _is_own(path.parent, stat.S_ISDIR) or not _is_own(path, stat.S_ISSOCK):
        return None
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(path, limit=LONGEST_ANSWER), PATIENCE_S)
        writer.write(json.dumps({"file": file}).encode() + b"\n")
        answer = json.loads(await asyncio.wait_for(reader.readline(), PATIENCE_S))
        writer.close()
    except (OSError, ValueError, RecursionError, asyncio.TimeoutError):
        return None
    text = answer.get("text") if isinstance(answer, dict) else None
    return text if isinstance(text, str) else None
