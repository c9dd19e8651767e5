# Names its processes and threads like lines of /proc, and is more than its limit allows.
# processes: 40
# overlay: killed budget
# landlock: killed budget

import planted
import ctypes, os, time
libc = ctypes.CDLL(None)
for name in (b") R 1 1\n1 (", b"\x1b]0;t\x07", b"\xff\n(x) Z 0"):
    libc.prctl(15, name, 0, 0, 0)
    os.fork()
    os.fork()
time.sleep(60)
