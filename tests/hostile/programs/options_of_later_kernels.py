# Asks for what old calls do in kernels that are newer than the sandbox, a table of a gigabyte among it.
# overlay: ok
# landlock: ok
# prints: unknown {22}, known []

import planted
import ctypes, errno, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
FUTEX_HASH, SET_SLOTS = 78, 1
unknown = set()
for option, value, slots in ((FUTEX_HASH, SET_SLOTS, 16), (FUTEX_HASH, 2, 0), (77, 0, 0), (62, 0, 0), (35, 15, 0), *((number, 0, 0) for number in range(79, 256)), (-1, 0, 0)):
    libc.prctl(option, value, slots, 0, 0)
    unknown.add(ctypes.get_errno() if libc.prctl(option, value, slots, 0, 0) == -1 else 0)
folder = os.open(".", os.O_RDONLY)
for command in (12, 13, 14, 18, 35, 39, 999, 1029, *range(1039, 1100), -1):
    unknown.add(ctypes.get_errno() if libc.fcntl(folder, command, 0) == -1 else 0)

known = []
for number, option in ((1, "PDEATHSIG"), (8, "KEEPCAPS"), (29, "TIMERSLACK"), (36, "CHILD_SUBREAPER"), (41, "THP_DISABLE"), (38, "NO_NEW_PRIVS")):
    if libc.prctl(number, 1 if number == 38 else 0, 0, 0, 0) == -1:
        known.append(option)
name = ctypes.create_string_buffer(b"renamed", 16)
libc.prctl(15, ctypes.addressof(name), 0, 0, 0)
libc.prctl(16, ctypes.addressof(name), 0, 0, 0)
reads, writes = os.pipe()
with open(os.environ["TMPDIR"] + "/lock", "w") as file:
    for made in (
        lambda: name.value == b"renamed",
        lambda: fcntl.fcntl(reads, fcntl.F_DUPFD_CLOEXEC, 100) >= 100,
        lambda: fcntl.fcntl(reads, fcntl.F_DUPFD, 200) >= 200,
        lambda: fcntl.fcntl(writes, 1031, 1 << 16) == fcntl.fcntl(reads, 1032) == 1 << 16,
        lambda: fcntl.fcntl(writes, fcntl.F_SETFL, fcntl.fcntl(writes, fcntl.F_GETFL) | os.O_NONBLOCK) == 0,
        lambda: fcntl.fcntl(writes, fcntl.F_SETFD, fcntl.fcntl(writes, fcntl.F_GETFD)) == 0,
        lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB) is None,
        lambda: fcntl.fcntl(writes, fcntl.F_GETOWN) == 0,
    ):
        try:
            if not made():
                known.append(made.__code__.co_firstlineno)
        except OSError as error:
            known.append((made.__code__.co_firstlineno, errno.errorcode[error.errno]))
print(f"unknown {unknown}, known {known}")
