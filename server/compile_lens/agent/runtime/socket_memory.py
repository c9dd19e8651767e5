"""Bytes that sockets of a run hold for others to read: they are in no process (Linux)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from .closed_processes import is_closed, places

# what one may hold, unless the machine says otherwise; who asks for it gets twice as much (socket(7), SO_SNDBUF)
SOCKET_BYTES, LARGEST_IN_SOCKET, ASKED_FOR = 212_992, "/proc/sys/net/core/wmem_max", 2
MOST_LOOKED_AT = 100_000
# both ends of a connection may hold much more than that, and so may who takes datagrams, where the machine lets readers ask for more than
# writers (net.core.rmem_max); they tell how much it is: tables of sockets, and where these are counted
CONNECTIONS = {
    "tcp": ("sockstat", b"TCP:"), "tcp6": ("sockstat6", b"TCP6:"), "udp": ("sockstat", b"UDP:"), "udp6": ("sockstat6", b"UDP6:"),
}  # fmt: skip
QUEUES_AT = 4
# in the table of local sockets: flags, types and states
LISTENING, DATAGRAMS, CONNECTING = b"00010000", b"0002", b"02"


class FlyingSockets:
    """Counts sockets that no process has open: on their way through another socket, not yet accepted, or closed while what they sent
    waits for its reader. No table lists them all, but all are in the number of sockets of their network namespace. Made before the run
    begins."""

    def __init__(self) -> None:
        self._namespace = _network(os.getpid())
        self._before = _sockets_used(os.getpid())

    def bytes(self, tree: list[int], child: int, enough: int) -> int:
        """Bytes that they may hold; 0 where they are so few that it cannot be more than ``enough``."""
        network = _network(child)
        # those of others count only in a namespace that others use, too
        others = self._before if network == self._namespace else 0
        each, used = _bytes_of_a_socket(), _sockets_used(child) - others
        if each * used <= enough:
            return 0
        if network not in (0, self._namespace) or any(map(passes_files, tree)):
            return each * used
        unaccepted, takes_datagrams = _queued(child, tree)
        return each * (used if takes_datagrams else unaccepted)


def _queued(child: int, tree: list[int]) -> tuple[int, bool]:
    """How many connections wait to be accepted by local sockets that ``tree`` has open, and whether one of these takes datagrams from
    whoever knows its name (net/unix/af_unix.c, ``unix_seq_show``)."""
    own = set(_sockets(tree))
    listening, waiting, takes_datagrams = set(), [], False
    with contextlib.suppress(OSError), open(f"/proc/{child}/net/unix", "rb") as table:
        for line in table:
            fields = line.rstrip(b"\n").split(None, 7)
            if len(fields) < 8:
                continue  # nobody reaches one without a name
            _, _, _, flags, kind, state, inode, name = fields
            if inode == b"0" and state == CONNECTING:
                waiting.append(name)
            elif inode in own:
                takes_datagrams |= kind == DATAGRAMS
                if flags == LISTENING:
                    listening.add(name)
    return sum(name in listening for name in waiting), takes_datagrams


def _sockets(tree: list[int]) -> Iterator[bytes]:
    """The numbers of the sockets that processes have open, as far as this one may look."""
    for pid in tree:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    link = os.readlink(entry.path)
                    if link.startswith("socket:["):
                        yield link[len("socket:[") : -1].encode()


def passes_files(pid: int) -> bool:
    """Whether files wait in a socket of the process for somebody to take them (proc(5), ``scm_fds``), or may, as far as is known."""
    if is_closed(pid):
        return True
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                if os.readlink(entry.path).startswith("socket:"):
                    with open(f"/proc/{pid}/fdinfo/{entry.name}", "rb") as about:
                        if int(about.read().partition(b"scm_fds:")[2].split()[0]):
                            return True
    return False


def in_sockets(tree: list[int], enough: int) -> int:
    """Bytes that sockets may hold; 0 where there are so few descriptors that it cannot be more than ``enough``."""
    each, count = _bytes_of_a_socket(), sum(map(descriptors, tree))
    if each * count <= enough:
        return 0
    # to look at each takes long: of too many, all count
    if count > MOST_LOOKED_AT:
        return each * count
    closed = list(filter(is_closed, tree))
    return each * (sum(1 for _ in _sockets(tree)) + sum(map(descriptors, closed)))


def in_connections(pid: int) -> int:
    """Bytes in the queues of all Internet sockets that the network namespace of a process has."""
    total = 0
    for kind, (counts, name) in CONNECTIONS.items():
        # the kernel goes through all places for such sockets of the machine, some milliseconds long, however few there are
        if _are_none(pid, counts, name):
            continue
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/net/{kind}", "rb") as table:
            next(table, None)
            for line in table:
                sent, received = line.split()[QUEUES_AT].split(b":")
                total += int(sent, 16) + int(received, 16)
    return total


def _are_none(pid: int, counts: str, name: bytes) -> bool:
    """Whether the network namespace of a process has no socket of the kind ``name`` (net/ipv4/proc.c, ``sockstat_seq_show``)."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/net/{counts}", "rb") as file:
        for line in file:
            if line.startswith(name + b" inuse "):
                return line.split()[2] == b"0"
    return False


def _network(pid: int) -> int:
    """A number that each network namespace has one of; 0 where the process is gone. Unlike the link to it, no process can close it."""
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{pid}/net/sockstat").st_ino
    return 0


def _sockets_used(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/net/sockstat", "rb") as file:
        return int(file.readline().split()[2])
    return 0


def descriptors(pid: int) -> int:
    """How many descriptors a process has open; all that it has places for, where that is not told."""
    try:
        # since Linux 6.2 the size is their number
        return os.stat(f"/proc/{pid}/fd").st_size or len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return places(pid)
    except OSError:
        return 0


def _bytes_of_a_socket() -> int:
    with contextlib.suppress(OSError, ValueError), open(LARGEST_IN_SOCKET, encoding="ascii") as file:
        return ASKED_FOR * int(file.read())
    return ASKED_FOR * SOCKET_BYTES
