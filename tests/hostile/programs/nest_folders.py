# Makes 3,000 folders in one another in its temporary folder.
# overlay: ok
# landlock: killed budget

import planted
import ctypes, os, tempfile, time
libc = ctypes.CDLL(None)
os.chdir(tempfile.gettempdir())
for _ in range(3000):
    libc.mkdir(b"d", 0o700)
    libc.chdir(b"d")
time.sleep(3)
