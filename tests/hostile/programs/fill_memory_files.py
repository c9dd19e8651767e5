# Fills memory that is in no process: files of `memfd_create`.
# overlay: killed budget
# landlock: killed budget
# gpus: yes
# memory: 0.5

import planted
import ctypes, mmap, os
libc = ctypes.CDLL(None)
kept = []
for number in range(200):
    descriptor = libc.memfd_create(b"x", 0)
    if descriptor < 0:
        kept.append(mmap.mmap(-1, 1 << 24))
        kept[-1].write(b"x" * (1 << 24))
        continue
    for _ in range(16):
        os.write(descriptor, b"x" * (1 << 20))
