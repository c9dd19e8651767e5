"""A seccomp filter: refuses system calls that no analyzed program needs and that Landlock and namespaces do not restrict.

A filter is a classic BPF program that sees the number and arguments of each call, but no memory, so it cannot inspect paths.
"""

from __future__ import annotations

import ctypes
import errno
import os

from . import kernel

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
X32 = 0x40000000

# name: (x86-64, arm64); -1 where the architecture has none
REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "unshare": (272, 97), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "quotactl": (179, 60),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, -1), "ioperm": (173, -1), "vhangup": (153, 58),
}  # fmt: skip
# answered as if the kernel lacked them: libraries then use an older call, which the filter can inspect
UNAVAILABLE = {
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
# Landlock does not cover these, and a filter cannot tell files apart: where no namespace keeps the user's files read-only, they
# report success and do nothing
CHANGES_OF_ATTRIBUTES = {
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
CLONE, SOCKET, SENDTO, SENDMSG = (56, 220), (41, 198), (44, 206), (46, 211)
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
SOCK_TYPES, SOCK_STREAM, IPPROTO_TCP, MSG_FASTOPEN = 0xF, 1, 6, 0x20000000

Instruction = tuple[int, int, int, int]


class _Line(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("lines", ctypes.POINTER(_Line)))


def install(internet: str, pretends_attributes: bool) -> None:
    """Enforce the filter for this thread and all its descendants. Raises OSError where the kernel does not support it.

    ``internet``: ``all`` Internet sockets, ``tcp`` alone (Landlock then refuses their connections), or ``none``.
    """
    machine = os.uname().machine
    if machine not in ARCHITECTURE:
        raise OSError(errno.ENOSYS, "unsupported architecture", machine)
    column = 0 if machine == "x86_64" else 1
    program = _assemble(machine, column, internet, pretends_attributes)
    lines = (_Line * len(program))(*(_Line(*line) for line in program))
    filter_mode = 1
    kernel.system_call(
        kernel.SECCOMP[machine],
        filter_mode,
        0,
        ctypes.byref(_Program(len(program), ctypes.cast(lines, ctypes.POINTER(_Line)))),
    )


def _assemble(machine: str, column: int, internet: str, pretends_attributes: bool) -> list[Instruction]:
    """Each block starts with the number of the call loaded, and falls through to the next in the same state."""
    refuse = _answer(errno.EPERM)
    program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 1, 0, ARCHITECTURE[machine]),
        refuse,  # a 32-bit call
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 0, 1, X32),
        refuse,
    ]
    answers = [(REFUSED, refuse), (UNAVAILABLE, _answer(errno.ENOSYS))]
    if pretends_attributes:
        answers.append((CHANGES_OF_ATTRIBUTES, _answer(0)))
    for calls, answer in answers:
        for numbers in calls.values():
            if numbers[column] >= 0:
                program += [(EQUAL, 0, 1, numbers[column]), answer]
    program += _when(CLONE[column], [_argument(0), (ANY_BIT, 0, 1, NEW_NAMESPACES), refuse])
    families = (AF_UNIX, AF_NETLINK) if internet == "none" else (AF_UNIX, AF_NETLINK, AF_INET, AF_INET6)
    closed = _answer(errno.EACCES)
    program += _when(SOCKET[column], [_argument(0), *_unless_one_of(families), closed])
    if internet == "tcp":
        program += _when(SOCKET[column], _only_tcp(closed))
        program += _when(SENDTO[column], [_argument(3), (ANY_BIT, 0, 1, MSG_FASTOPEN), closed])
        program += _when(SENDMSG[column], [_argument(2), (ANY_BIT, 0, 1, MSG_FASTOPEN), closed])
    return [*program, (RETURN, 0, 0, ALLOW)]


def _answer(number: int) -> Instruction:
    return RETURN, 0, 0, REFUSE | number


def _argument(index: int) -> Instruction:
    return LOAD, 0, 0, ARGUMENTS_AT + 8 * index


def _when(number: int, block: list[Instruction]) -> list[Instruction]:
    """Run ``block`` for this call only, and load the number again after it."""
    return [(EQUAL, 0, len(block), number), *block, (LOAD, 0, 0, NUMBER_AT)]


def _unless_one_of(values: tuple[int, ...]) -> list[Instruction]:
    """Jumps that skip the next instruction if the argument is one of ``values``."""
    return [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]


def _only_tcp(closed: Instruction) -> list[Instruction]:
    """An Internet socket must be a TCP stream: MPTCP and SCTP are streams, too, and Landlock does not cover them."""
    kind = [_argument(1), (AND, 0, 0, SOCK_TYPES), (EQUAL, 1, 0, SOCK_STREAM), closed]
    protocol = [_argument(2), *_unless_one_of((0, IPPROTO_TCP)), closed]
    block = [*kind, *protocol]
    return [_argument(0), (EQUAL, 1, 0, AF_INET), (EQUAL, 0, len(block), AF_INET6), *block]
