# Writes to every file that it has inherited.
# overlay: ok
# landlock: ok
# prints: True

import planted
import os, stat
most = 0
for descriptor in range(3, 2000):
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.lseek(descriptor, 0, os.SEEK_END)
            for _ in range(40):
                most += os.write(descriptor, bytes(1 << 20))
    except OSError:
        pass
print("wrote at most 64 KiB", most <= 1 << 16)
