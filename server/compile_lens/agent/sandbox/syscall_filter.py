"""A seccomp filter: refuses system calls that no analyzed program needs and that Landlock and namespaces do not restrict.

A filter is a classic BPF program that sees the number and arguments of each call, but no memory, so it cannot inspect paths.
"""

from __future__ import annotations

import ctypes
import errno
import os
from dataclasses import dataclass

from . import kernel, landlock
from .listed_commands import (
    CLOSED,
    COMMANDS,
    F_SET_RW_HINT,
    F_SETLEASE,
    FCNTL,
    OPTIONS,
    PRCTL,
    READ_OPTIONS,
    SET_DUMPABLE,
    SET_OPTIONS,
)

LOAD, AND, SHIFT_RIGHT, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x74, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
FILTER_MODE, ALL_THREADS = 1, 1
# what a kernel answers that has no filters, or a sandbox around this process that wants no further ones
NOT_OFFERED = (errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EACCES)
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
    # by the number or descriptor of another process
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "quotactl_fd": (443, 443), "open_tree_attr": (467, 467), "fanotify_init": (300, 262),
}  # fmt: skip
# answered as if the kernel lacked them: libraries then use an older call, which the filter can inspect
UNAVAILABLE = {
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # System V objects and message queues outlive a run, belong to all processes of the user, and their memory is in no process
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "memfd_secret": (447, 447),
    # a queue is also a file, where somebody has mounted them: who may read it takes messages out of it, and has itself notified
    "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    # its flags and mode are in memory, where a filter cannot look
    "openat2": (437, 437),
    # inode flags, which neither a copy of a folder nor the caches of a run are to have (FILE_CONTROLS)
    "file_setattr": (469, 469),
    # requests to read and write later come out of one number for the whole machine (/proc/sys/fs/aio-max-nr)
    "io_setup": (206, 0),
    # moves who waits (SHARED_REQUEUES)
    "futex_requeue": (456, 456),
    # rules are memory that no count shows, and keep files that are deleted; those of the run are in force before the filter is
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
    # the kernel translates filters into memory of which there is one number for the whole machine (net.core.bpf_jit_limit): where
    # it is used up, no other program of the machine gets one, nor does a later run
    "seccomp": (317, 277),
}  # fmt: skip
# these have a socket or a pipe hold a page for each of its bytes, also a page of two megabytes, and no count shows more than the byte.
# Answered as for a file that cannot be sent so: what copies by them reads and writes instead (sent_files.py)
PINNING = {"sendfile": (40, 71), "splice": (275, 76), "tee": (276, 77), "vmsplice": (278, 75)}
# memory without a process or a file; C libraries and torch take a file in /dev/shm instead
UNCOUNTED = {"memfd_create": (319, 279)}
# Landlock does not cover these, and a filter cannot tell files apart: where no namespace keeps the user's files read-only, they
# report success and do nothing
CHANGES_OF_ATTRIBUTES = {
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463),
    "removexattrat": (466, 466),
}  # fmt: skip
# lists of access rights of files in memory are the kernel's, and each new file gets those of its folder; the size is an argument
SET_ATTRIBUTES = {"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7)}
LARGEST_ATTRIBUTE = 512
# its size is in memory, where a filter cannot look
SET_ATTRIBUTES_AT = {"setxattrat": (463, 463)}
# how another process is scheduled: position of the argument that names it. Without a process namespace only the run's own process may
# be named, and the rest is reported as done: a program that places its workers on cores goes on
SCHEDULING = {
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
}  # fmt: skip
# these name a process, a group or all processes of a user; the value is the one that stands for a process
BY_KIND = {"setpriority": ((141, 140), 0), "ioprio_set": ((251, 30), 1)}
PRLIMIT = (302, 261)
CLONE, SOCKET, SETRLIMIT = (56, 220), (41, 198), (160, 164)
SOCKET_PAIR = (53, 199)
IOCTL = (16, 29)
# by the second byte of their number (Documentation/userspace-api/ioctl/ioctl-number.rst): those of terminals and pipes, and of sockets
HARMLESS_CONTROLS = (0x54, 0x89)
# of file systems: flags, versions, snapshots, encryption. A graphics driver has numbers of its own beside these
FILE_CONTROLS = (0x66, 0x76, 0x58, 0x94, 0xF5)
# what writes to the user's terminal as if typed there (TIOCSTI, TIOCLINUX, TIOCCONS), and what has the kernel load a module: a line
# discipline (TIOCSETD), a bridge (SIOCGIFBR, SIOCSIFBR)
REFUSED_CONTROLS = (0x5412, 0x541C, 0x541D, 0x5423, 0x8940, 0x8941)
# copies a file by sharing its blocks (FICLONE, FICLONERANGE): answered as by a file system that has no such thing, where programs then copy
SHARED_COPIES = (0x40049409, 0x4020940D)
# from here to the end of their group, controls of sockets are for VLANs, bridges, bonds and single protocols and drivers
CONTROLS_OF_DRIVERS, CONTROLS_OF_SOCKETS_END = 0x8980, 0x8A00
NEW_NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
# a thread with a table of descriptors of its own: what it opens is in no list of its process
CLONE_FILES, CLONE_THREAD = 0x400, 0x10000
CLOSE_RANGE, CLOSE_RANGE_UNSHARE = (436, 436), 2
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
# the kernel loads a module for a protocol that it does not have yet
PROTOCOLS = {AF_INET: (0, 1, 6, 17), AF_INET6: (0, 6, 17, 58), AF_NETLINK: (0, 15)}
SOCKET_TYPES = (1, 2, 3)
# a program that anybody may start with the user's rights; where the mode of the new file or folder is among the arguments
SET_USER_OR_GROUP = 0o6000
MODES = {
    "chmod": ((90, -1), 1), "fchmod": ((91, 52), 1), "fchmodat": ((268, 53), 2), "fchmodat2": ((452, 452), 2), "creat": ((85, -1), 1),
    "mknod": ((133, -1), 1), "mknodat": ((259, 33), 2),
}  # fmt: skip
MAKE_FILES = ("creat", "mknod", "mknodat")
# these have flags, and the mode after them
OPENS = {"open": ((2, -1), 1), "openat": ((257, 56), 2)}
O_CREAT, O_TRUNC, O_TMPFILE, O_ACCMODE = 0o100, 0o1000, 0o20000000, 0o3
# the last call of Linux 6.18: what later ones do is not known
LAST_CALL = 469
TRUNCATE = (76, 45)
# huge pages come out of a pool of the machine's, and are in no count of a process's memory: answered as where the pool is empty, as it
# is unless somebody fills it, and as where there is none. A GPU's driver may take some
MMAP, MAP_HUGETLB, MFD_HUGETLB = (9, 222), 0x40000, 0x4
# moves processes that wait at one word of memory to another. In memory of a file that the run may read, they are the user's, and would
# wait at a word of the run's without an end. Within one process, such calls have a flag (futex(2))
FUTEX = (202, 98)
SHARED_REQUEUES = (3, 4, 11, 12)
COMMAND_AND_SHARING = 0xFF
# how to signal a process without a number that an audit hook sees
PIDFD_SEND_SIGNAL = (424, 424)
RLIMIT_CORE = 4

Instruction = tuple[int, int, int, int]


class _Line(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("lines", ctypes.POINTER(_Line)))


@dataclass(frozen=True, slots=True)
class Filter:
    """What is let through.

    ``internet``: Internet sockets. Landlock restricts some of what they can do, but not waiting for a connection on any port.
    ``pretends_attributes``: changes of modes and the like report success and do nothing. ``alone``: no other processes can be named.
    ``counted``: the kernel counts all memory of the run. ``landlock``: the version of Landlock in force, which the filter makes up for;
    0 for none.
    """

    internet: bool
    pretends_attributes: bool
    alone: bool
    counted: bool
    gpu: bool
    landlock: int

    def install(self) -> None:
        """Enforce the filter for all threads of this process and their descendants. Raises OSError where the kernel does not support it."""
        machine = os.uname().machine
        if machine not in ARCHITECTURE:
            raise OSError(errno.ENOSYS, "unsupported architecture", machine)
        program = self._assemble(machine, 0 if machine == "x86_64" else 1)
        lines = (_Line * len(program))(*(_Line(*line) for line in program))
        pointer = ctypes.byref(_Program(len(program), ctypes.cast(lines, ctypes.POINTER(_Line))))
        left_out = kernel.system_call(kernel.SECCOMP[machine], FILTER_MODE, ALL_THREADS, pointer)
        if left_out:
            raise OSError(errno.EBUSY, "a thread has a filter of its own")

    def _assemble(self, machine: str, column: int) -> list[Instruction]:
        """Each block starts with the number of the call loaded, and falls through to the next in the same state."""
        refuse = _answer(errno.EPERM)
        program = [
            (LOAD, 0, 0, ARCHITECTURE_AT),
            (EQUAL, 1, 0, ARCHITECTURE[machine]),
            refuse,  # a 32-bit call
            (LOAD, 0, 0, NUMBER_AT),
            (AT_LEAST, 0, 1, X32),
            refuse,
            (AT_LEAST, 0, 1, LAST_CALL + 1),
            _answer(errno.ENOSYS),
        ]
        answers = [(REFUSED, refuse), (UNAVAILABLE, _answer(errno.ENOSYS)), (PINNING, _answer(errno.EINVAL))]
        if self.pretends_attributes:
            answers.append((CHANGES_OF_ATTRIBUTES, _answer(0)))
        else:
            answers.append((SET_ATTRIBUTES_AT, _answer(errno.ENOSYS)))
        if not self.counted:
            answers.append((UNCOUNTED, _answer(errno.ENOSYS)))
        for calls, answer in answers:
            for numbers in calls.values():
                if numbers[column] >= 0:
                    program += [(EQUAL, 0, 1, numbers[column]), answer]
        apart = [(AND, 0, 0, CLONE_THREAD | CLONE_FILES), (EQUAL, 0, 1, CLONE_THREAD), refuse]
        program += _when(CLONE[column], [_argument(0), (ANY_BIT, 0, 1, NEW_NAMESPACES), refuse, *apart])
        program += _when(
            CLOSE_RANGE[column], [_argument(2), (ANY_BIT, 0, 1, CLOSE_RANGE_UNSHARE), _answer(errno.ENOSYS)]
        )
        program += self._sockets(column) + self._files(column)
        program += _when(IOCTL[column], self._controls())
        program += _core_limit_stays(column) + _waiting_stays(column)
        program += _known_options(column) + _known_commands(column) + _options_of_sockets(column)
        if not self.gpu:
            program += _when(MMAP[column], [_argument(3), (ANY_BIT, 0, 1, MAP_HUGETLB), _answer(errno.ENOMEM)])
            huge = [_argument(1), (ANY_BIT, 0, 1, MFD_HUGETLB), _answer(errno.ENOSYS)]
            program += _when(UNCOUNTED["memfd_create"][column], huge)
        if not self.alone:
            program += _own_process_only(column)
            if self.landlock < landlock.WITH_SCOPES:
                program += _when(PIDFD_SEND_SIGNAL[column], [_answer(errno.ENOSYS)])
        return [*program, (RETURN, 0, 0, ALLOW)]

    def _sockets(self, column: int) -> list[Instruction]:
        families = (AF_UNIX, AF_NETLINK, *((AF_INET, AF_INET6) if self.internet else ()))
        block = [_argument(0), *_unless_one_of(families), _answer(errno.EACCES)]
        for family, protocols in PROTOCOLS.items():
            kinds = [_argument(1), (AND, 0, 0, 0xF), *_unless_one_of(SOCKET_TYPES), _answer(errno.ESOCKTNOSUPPORT)]
            known = [_argument(2), *_unless_one_of(protocols), _answer(errno.EPROTONOSUPPORT), *kinds]
            block += [_argument(0), (EQUAL, 0, len(known), family), *known]
        pair = [_argument(0), *_unless_one_of((AF_UNIX,)), _answer(errno.EAFNOSUPPORT)]
        return _when(SOCKET[column], block) + _when(SOCKET_PAIR[column], pair)

    def _files(self, column: int) -> list[Instruction]:
        program: list[Instruction] = []
        for name, (numbers, index) in MODES.items():
            # a change is reported as done: who copies a folder with such a mode wants the rest of it
            answer = _answer(errno.EPERM if name in MAKE_FILES else 0)
            block = [_argument(index), (ANY_BIT, 0, 1, SET_USER_OR_GROUP), answer]
            program += _when(numbers[column], block) if numbers[column] >= 0 else []
        old = self.pretends_attributes and self.landlock < landlock.WITH_TRUNCATE
        for numbers, index in OPENS.values():
            # "neither reading nor writing" (open(2)) is what Landlock has no rule for; devices and terminals can be controlled so
            block = [_argument(index), (AND, 0, 0, O_ACCMODE), (EQUAL, 0, 1, O_ACCMODE), _answer(errno.EACCES)]
            if old:
                block += [
                    _argument(index),
                    (AND, 0, 0, O_ACCMODE | O_TRUNC),
                    (EQUAL, 0, 1, O_TRUNC),
                    _answer(errno.EACCES),
                ]
            makes = [_argument(index + 1), (ANY_BIT, 0, 1, SET_USER_OR_GROUP), _answer(errno.EPERM)]
            block += [_argument(index), (ANY_BIT, 0, len(makes), O_CREAT | O_TMPFILE), *makes]
            program += _when(numbers[column], block) if numbers[column] >= 0 else []
        # what a file system on a disk answers that has no room for so large a value (xattr(7))
        large = [_argument(3), (AT_LEAST, 0, 1, LARGEST_ATTRIBUTE + 1), _answer(errno.ENOSPC)]
        large += [_upper_half(3), (EQUAL, 1, 0, 0), _answer(errno.ENOSPC)]
        for numbers in SET_ATTRIBUTES.values():
            program += _when(numbers[column], large)
        return program + (_when(TRUNCATE[column], [_answer(errno.EACCES)]) if old else [])

    def _controls(self) -> list[Instruction]:
        single = [_argument(1)]
        for numbers, answer in ((REFUSED_CONTROLS, errno.EPERM), (SHARED_COPIES, errno.EOPNOTSUPP)):
            single += [line for number in numbers for line in ((EQUAL, 0, 1, number), _answer(answer))]
        single += [
            (AT_LEAST, 0, 2, CONTROLS_OF_DRIVERS),
            (AT_LEAST, 1, 0, CONTROLS_OF_SOCKETS_END),
            _answer(errno.ENOTTY),
        ]
        group = [(SHIFT_RIGHT, 0, 0, 8), (AND, 0, 0, 0xFF)]
        no_such = _answer(errno.ENOTTY)
        if not self.gpu:
            return [*single, *group, *_unless_one_of(HARMLESS_CONTROLS), no_such]
        refused = [line for number in FILE_CONTROLS for line in ((EQUAL, 0, 1, number), no_such)]
        return [*single, *group, *refused]


def _core_limit_stays(column: int) -> list[Instruction]:
    """The limit on core dumps is reported as set: a limit of 0 would allow those that a program of the system takes (core(5))."""
    changes = [_argument(2), (EQUAL, 0, 2, 0), _upper_half(2), (EQUAL, 1, 0, 0), _answer(0)]
    program = _when(PRLIMIT[column], [_argument(1), (EQUAL, 0, len(changes), RLIMIT_CORE), *changes])
    return program + _when(SETRLIMIT[column], [_argument(0), (EQUAL, 0, 1, RLIMIT_CORE), _answer(0)])


def _waiting_stays(column: int) -> list[Instruction]:
    """Who waits at memory that is shared stays there; what is shared by threads of one process alone is not concerned."""
    moves = [line for number in SHARED_REQUEUES for line in ((EQUAL, 0, 1, number), _answer(errno.ENOSYS))]
    return _when(FUTEX[column], [_argument(1), (AND, 0, 0, COMMAND_AND_SHARING), *moves])


def _known_options(column: int) -> list[Instruction]:
    """What a process may do to itself by ``prctl``."""
    unknown = [_argument(0), *_unless_one_of(tuple(OPTIONS.values())), _answer(errno.EINVAL)]
    closes = [_argument(1), (EQUAL, 0, 1, CLOSED), _answer(0)]
    return _when(PRCTL[column], [*unknown, (EQUAL, 0, len(closes), SET_DUMPABLE), *closes])


def _known_commands(column: int) -> list[Instruction]:
    """What ``fcntl`` may do with a descriptor."""
    leases = [(EQUAL, 0, 1, F_SETLEASE), _answer(errno.EACCES), (EQUAL, 0, 1, F_SET_RW_HINT), _answer(errno.EPERM)]
    unknown = [*_unless_one_of(tuple(COMMANDS.values())), _answer(errno.EINVAL)]
    return _when(FCNTL[column], [_argument(1), *leases, *unknown])


def _options_of_sockets(column: int) -> list[Instruction]:
    """Options that a kernel without them does not know either."""
    program: list[Instruction] = []
    for numbers, levels in (SET_OPTIONS, READ_OPTIONS):
        block = []
        for level, options in levels.items():
            refused = [
                line for number in options.values() for line in ((EQUAL, 0, 1, number), _answer(errno.ENOPROTOOPT))
            ]
            block += [_argument(1), (EQUAL, 0, 1 + len(refused), level), _argument(2), *refused]
        program += _when(numbers[column], block)
    return program


def _own_process_only(column: int) -> list[Instruction]:
    """Limits and scheduling of this process alone, by its number or as 0."""
    own = (0, os.getpid())
    program: list[Instruction] = []
    for numbers in SCHEDULING.values():
        program += _when(numbers[column], [_argument(0), *_unless_one_of(own), _answer(0)])
    for numbers, process in BY_KIND.values():
        kind = [_argument(0), (EQUAL, 1, 0, process), _answer(0)]
        program += _when(numbers[column], [*kind, _argument(1), *_unless_one_of(own), _answer(0)])
    # to read a limit changes nothing: the third argument, an address, is then 0
    reads = [_argument(2), (EQUAL, 0, 2, 0), _upper_half(2), (EQUAL, 1, 0, 0), _answer(errno.EPERM)]
    other = [_argument(0), (EQUAL, len(reads) + 1, 0, own[0]), (EQUAL, len(reads), 0, own[1])]
    return program + _when(PRLIMIT[column], [*other, *reads])


def is_offered() -> bool:
    """Whether this kernel takes filters from this process. It is asked with a program that is nowhere, so that none is installed: who has
    filters answers that there is nothing to read (EFAULT), or that something is lacking now."""
    machine = os.uname().machine
    if machine not in ARCHITECTURE:
        return False
    try:
        kernel.system_call(kernel.SECCOMP[machine], FILTER_MODE, ALL_THREADS, None)
    except OSError as error:
        return error.errno not in NOT_OFFERED
    return True


def _answer(number: int) -> Instruction:
    return RETURN, 0, 0, REFUSE | number


def _argument(index: int) -> Instruction:
    return LOAD, 0, 0, ARGUMENTS_AT + 8 * index


def _upper_half(index: int) -> Instruction:
    return LOAD, 0, 0, ARGUMENTS_AT + 8 * index + 4


def _when(number: int, block: list[Instruction]) -> list[Instruction]:
    """Run ``block`` for this call only, and load the number again after it."""
    return [(EQUAL, 0, len(block), number), *block, (LOAD, 0, 0, NUMBER_AT)]


def _unless_one_of(values: tuple[int, ...]) -> list[Instruction]:
    """Jumps that skip the next instruction if the argument is one of ``values``."""
    return [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
