# Has the kernel keep its files and memory from whoever counts them, by taking back that it may be dumped.
# overlay: ok
# landlock: ok
# prints: said 0, may be looked into 1

import planted
import ctypes
libc = ctypes.CDLL(None)
SET_DUMPABLE, GET_DUMPABLE = 4, 3
print(f"said {libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)}, may be looked into {libc.prctl(GET_DUMPABLE, 0, 0, 0, 0)}")
