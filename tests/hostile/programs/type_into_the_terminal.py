# Types commands into a terminal: its own, and the one of each descriptor.
# overlay: ok
# landlock: ok
# prints: results {-1}

import planted
import ctypes, os, pty
libc = ctypes.CDLL(None, use_errno=True)
try:
    own = pty.openpty()
except OSError:
    own = ()
os.setsid() if os.getpgid(0) != os.getpid() else None
results = {libc.ioctl(descriptor, number, b"x") for descriptor in (0, 1, 2, *own) for number in (0x5412, 0x541C, 0x541D)}
print("results", results)
