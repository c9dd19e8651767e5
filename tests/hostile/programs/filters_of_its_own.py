# Asks for what the whole machine has one number for: filters of calls and of sockets, of which none would be made in any case, and reserves of sockets.
# overlay: ok
# landlock: ok
# prints: answers [38, 22, 22, 1, 92, 92, 92, 92, 92, 92, 92], ordinary [0, 0]

import planted
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
SECCOMP, BPF = 317, 321
FILTER, STRICT_MODE, FILTER_MODE, SET_SECCOMP = 1, 1, 2, 22
def answer(result):
    return ctypes.get_errno() if result == -1 else 0
answers = [
    answer(libc.syscall(SECCOMP, FILTER, 0, None)),
    # strict mode would end this process at its next call
    answer(libc.prctl(SET_SECCOMP, ctypes.c_ulong(FILTER_MODE), None, 0, 0)),
    answer(libc.prctl(SET_SECCOMP, ctypes.c_ulong(3), None, 0, 0)),
    answer(libc.syscall(BPF, 5, None, 0)),
]
one, _ = socket.socketpair()
for option in (26, 44, 50, 51, 52, 60, 73):
    value = ctypes.c_int(1)
    answers.append(answer(libc.setsockopt(one.fileno(), 1, option, None if option != 44 else ctypes.byref(value), 0 if option != 44 else 4)))
ordinary = []
for option in (socket.SO_SNDBUF, socket.SO_REUSEADDR):
    value = ctypes.c_int(4096)
    ordinary.append(answer(libc.setsockopt(one.fileno(), socket.SOL_SOCKET, option, ctypes.byref(value), 4)))
print(f"answers {answers}, ordinary {ordinary}")
