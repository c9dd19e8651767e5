"""Which calls of Python's the audit hook lets through, where nothing else restricts a program."""

from __future__ import annotations

import array
import os
import re
import sqlite3
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from compile_lens.agent.runtime.import_guard import REACHES_OUT
from compile_lens.agent.sandbox import calls, unaudited_calls
from compile_lens.agent.sandbox.calls import CHANGES, ELSEWHERE, LOOKS, LOOKS_UP, Rules
from compile_lens.agent.sandbox.other_processes import CONTROLS, SIGNALS
from compile_lens.agent.sandbox.passed_text import passed_text
from compile_lens.agent.sandbox.started_programs import STARTS, refused_program

LOOKED_AT = {
    *CHANGES,
    *ELSEWHERE,
    *LOOKS,
    *LOOKS_UP,
    *SIGNALS,
    *CONTROLS,
    *STARTS,
    "os.putenv",
    "socket.__new__",
    "sqlite3.connect",
    "socket.bind",
    "socket.connect",
    "socket.sendto",
    "socket.sendmsg",
}
# reads, looks, or changes this process alone; or, as SECURITY.md says of this kind, is not restricted
LET_THROUGH = {
    *(
        "os.chdir",
        "os.fork",
        "os.forkpty",
        "os.fwalk",
        "os.lockf",
    ),
    *("os.unsetenv", "os.walk", "os.listmounts", "os.listvolumes", "os.listdrives"),
    *(
        "fcntl.flock",
        "fcntl.lockf",
        "mmap.__new__",
        "resource.prlimit",
        "resource.setrlimit",
    ),
    *("signal.pthread_kill", "socket.gethostname", "socket.getservbyname", "socket.getservbyport", "syslog.closelog"),
    *("syslog.setlogmask", "sqlite3.connect/handle", "sqlite3.enable_load_extension"),
    "sqlite3.load_extension",
}
# what an import outside of a sandbox may do
ONLY_LOOKS = {
    *("os.chdir", "os.getxattr", "os.listdir", "os.listxattr", "os.lockf", "os.scandir", "os.walk", "os.listmounts"),
    *("os.listvolumes", "os.listdrives", "fcntl.fcntl", "fcntl.flock", "fcntl.ioctl", "fcntl.lockf", "mmap.__new__"),
    *("resource.prlimit", "resource.setrlimit", "socket.__new__", "socket.gethostname", "socket.getservbyname"),
    *("socket.getservbyport", "syslog.closelog", "syslog.setlogmask", "sqlite3.connect/handle"),
    *("sqlite3.enable_load_extension", "sqlite3.load_extension"),
}
NAMES = re.compile(rb"\0((?:os|socket|syslog|fcntl|mmap|resource|signal|sqlite3)\.[a-z_]+(?:/[a-z0-9]+)?)(?=\0)")
NO_EVENTS = re.compile(
    r".*\.(?:[ch]|path|error|mmap|gaierror|herror|dump|itimer_error)|.*_(?:result|size)|.*\.struct_.*"
)


def events_of_this_python() -> set[str]:
    """What the modules in C of these names raise: the texts in their files that look like it."""
    libraries = Path(sysconfig.get_path("stdlib"), "lib-dynload").glob("*.so")
    shared = Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent").glob("libpython3*.so*")
    texts = (file.read_bytes() for file in (Path(os.path.realpath(sys.executable)), *libraries, *shared))
    found = {name.decode() for text in texts for name in NAMES.findall(text)}
    return {name for name in found if not NO_EVENTS.fullmatch(name)}


@pytest.mark.skipif(os.name == "nt", reason="looks into the interpreter's files")
def test_no_event_is_forgotten() -> None:
    events = events_of_this_python()
    assert {"os.rename", "socket.getnameinfo", "fcntl.ioctl"} <= events
    assert events - LOOKED_AT - LET_THROUGH == set()
    assert events - REACHES_OUT - ONLY_LOOKS == set()


Refused = tuple[str, str, str] | None


class Hook:
    """The hook of a program that nothing else restricts, asked without being installed."""

    def __init__(self, *secret: str, writable: tuple[str, ...] = ()) -> None:
        self.refused: list[tuple[str, str, str]] = []
        rules = Rules(writable=writable, secret=secret, network=False, own_network=False, processes=False)
        self._hook = calls._AuditHook(
            rules, lambda what, does, target, frame: self.refused.append((what, does, target))
        )

    def __call__(self, event: str, *arguments: Any) -> Refused:
        try:
            self._hook.on_event(event, arguments)
        except PermissionError:
            return self.refused[-1]
        return None


@pytest.mark.parametrize(
    ("event", "arguments", "program"),
    [
        ("subprocess.Popen", (None, "calc.exe /x", None, None), "calc.exe"),
        ("subprocess.Popen", (None, '"calc.exe" python', None, None), "calc.exe"),
        ("subprocess.Popen", (None, ["calc.exe"], None, None), "calc.exe"),
        ("subprocess.Popen", (None, "", None, None), ""),
        ("_winapi.CreateProcess", (None, "calc.exe", None), "calc.exe"),
        ("os.spawn", (0, "/bin/calc", ["python"], None), "calc"),
        ("os.startfile", ("notes.txt", "open"), "notes.txt"),
        ("os.startfile/2", ("notes.txt", "open", "", None, 1), "notes.txt"),
        ("os.system", (b"rm -r x /python",), "rm"),
        ("os.system", ("gcc x.c && rm -r x",), "gcc"),
        ("os.system", ("gcc x.c\nrm -r x",), "gcc"),
        ("os.system", ("$(rm -r x)",), "$(rm"),
    ],
)
def test_other_programs_are_not_started(event: str, arguments: tuple[Any, ...], program: str) -> None:
    assert Hook()(event, *arguments) == ("process", "starts", program)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("subprocess.Popen", (None, '"/opt/a b/python3.11" -c ""', None, None)),
        ("subprocess.Popen", ("/usr/bin/g++", ["g++"], None, None)),
        ("os.system", (b"gcc --version",)),
        ("os.posix_spawn", ("/usr/bin/gcc-12", [], {})),
    ],
)
def test_compilers_are(event: str, arguments: tuple[Any, ...]) -> None:
    assert Hook()(event, *arguments) is None


def test_no_interpreter_without_hooks_is_made() -> None:
    assert Hook()("cpython.PyInterpreterState_New") == ("process", "starts", "an interpreter without a sandbox")


def test_a_signal_where_groups_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIGNALS, "os.kill", None)
    for number in (0, 1, 9):
        assert Hook()("os.kill", os.getppid(), number) == ("process", "sends a signal to", f"process {os.getppid()}")
    assert Hook()("os.kill", os.getpid(), 9) is None


def test_the_registry_is_not_written() -> None:
    assert Hook()("winreg.CreateKey", 1, "Software", 2) == ("write", "writes", "the registry")


@pytest.mark.skipif(os.name == "nt", reason="makes links")
def test_a_secret_is_one_by_any_of_its_names(tmp_path: Path) -> None:
    """As where a file system does not tell letters of either case apart; here, by a second name of the same file."""
    secret, other = tmp_path / "token", tmp_path / "TOKEN"
    secret.write_text("x")
    os.link(secret, other)
    hook = Hook(str(secret), str(tmp_path / "not there"))
    assert hook("open", str(other), "r", os.O_RDONLY) == ("read", "reads", str(other))
    assert hook("open", str(tmp_path / "else"), "r", os.O_RDONLY) is None


def test_a_database_whose_name_no_statement_has_is_told(tmp_path: Path) -> None:
    hook = Hook()
    made = unaudited_calls._asking(hook._hook.refuses_database, sqlite3.Connection)(":memory:")
    for authorizer in (None, lambda *_: sqlite3.SQLITE_OK):
        made.set_authorizer(authorizer)
        with pytest.raises(sqlite3.DatabaseError, match="authorized"):
            made.execute("attach ? as other", (str(tmp_path / "planted"),))
        with pytest.raises(sqlite3.DatabaseError, match="authorized"):
            made.execute(f"attach '{tmp_path}/planted' as other")
    assert ("write", "writes", "a database that no text of the statement names") in hook.refused
    assert ("write", "writes", f"{tmp_path}/planted") in hook.refused
    assert not (tmp_path / "planted").exists()
    made.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
    with pytest.raises(sqlite3.DatabaseError, match="authorized"):
        made.execute("create table numbers (number)")


class Lying(str):
    """A path that says another one of itself."""

    def __str__(self) -> str:
        return "/tmp"


class Short(tuple[Any, ...]):
    """An address that says it has one part."""

    def __len__(self) -> int:
        return 1


class Twofold:
    """A path that answers only when it is asked again."""

    asked = 0

    def __fspath__(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise ValueError
        return "/elsewhere/made.db"


@pytest.mark.parametrize(
    "given", [bytearray, memoryview, lambda name: array.array("b", name), lambda name: Lying(name.decode())]
)
def test_a_path_is_read_as_the_system_reads_it(tmp_path: Path, given: Any) -> None:
    assert passed_text(given(b"/elsewhere/x")) == "/elsewhere/x"


def test_what_is_no_path_is_left_to_the_call() -> None:
    with pytest.raises(TypeError):
        passed_text([])


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        (bytearray(b"/usr/bin/touch"), "touch"),
        (7, "the program of descriptor 7"),
        ("/lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2"),
        ("/usr/bin/ld.gold", None),
        (b"/usr/bin/gcc-12", None),
    ],
)
def test_which_programs_start(command: Any, refused: str | None) -> None:
    assert refused_program("os.exec", (command, [], {})) == refused


@pytest.mark.parametrize(
    ("event", "arguments", "target"),
    [
        ("open", (bytearray(b"/elsewhere/x"), None, os.O_CREAT | os.O_WRONLY), "/elsewhere/x"),
        ("os.mkdir", (memoryview(b"/elsewhere/x"), 0o777, -1), "/elsewhere/x"),
        ("socket.connect", (None, (bytearray(b"192.0.2.1"), 80)), "192.0.2.1:80"),
        ("socket.connect", (None, Short(("192.0.2.1", 80))), "192.0.2.1:80"),
        ("socket.connect", (None, bytearray(b"/elsewhere/service.sock")), "/elsewhere/service.sock"),
        ("socket.gethostbyname", (bytearray(b"a.invalid"),), "a.invalid"),
        ("sqlite3.connect", (Twofold(),), "the path of a Twofold object"),
    ],
)
def test_whatever_the_class_of_an_argument_says_the_call_is_refused(
    tmp_path: Path, event: str, arguments: tuple[Any, ...], target: str
) -> None:
    told: list[tuple[Any, ...]] = []
    rules = Rules((str(tmp_path),), (), network=False, own_network=False, processes=False)
    hook = calls._AuditHook(rules, lambda *refused: told.append(refused))
    with pytest.raises(PermissionError):
        hook.on_event(event, arguments)
    assert told[0][2] == target
