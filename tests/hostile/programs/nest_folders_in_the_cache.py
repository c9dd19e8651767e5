# Makes 1,500 folders in one another in the cache of its compiler.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
os.chdir(os.environ["TORCHINDUCTOR_CACHE_DIR"])
for _ in range(1500):
    libc.mkdir(b"e", 0o700)
    libc.chdir(b"e")
