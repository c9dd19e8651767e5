# Hides 300 MB below names that make a path too long to follow.
# overlay: ok
# landlock: killed budget
# disk: 0.05

import planted
import ctypes, os, tempfile, time
libc = ctypes.CDLL(None)
os.chdir(tempfile.gettempdir())
for _ in range(40):
    libc.mkdir(b"n" * 200, 0o700)
    libc.chdir(b"n" * 200)
descriptor = libc.open(b"file", 0o102, 0o600)
for _ in range(100):
    libc.write(descriptor, b"x" * (1 << 20), 1 << 20)
time.sleep(3)
