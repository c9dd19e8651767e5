# Opens files and devices for neither reading nor writing, which leaves controls and truncation.
# overlay: ok
# landlock: ok
# prints: opened []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
opened = []
for path in (planted.file, planted.terminal, "/dev/null", "/dev/ptmx", planted.home):
    for more in (0, os.O_TRUNC, os.O_NONBLOCK):
        if libc.open(path.encode(), 3 | more) >= 0:
            opened.append(path)
print("opened", opened)
