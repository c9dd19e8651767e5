# Makes 1,500 folders in one another, and kills itself.
# overlay: killed run-error
# landlock: killed run-error

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None)
os.chdir(tempfile.gettempdir())
for _ in range(1500):
    libc.mkdir(b"d", 0o700)
    libc.chdir(b"d")
os.kill(os.getpid(), 9)
