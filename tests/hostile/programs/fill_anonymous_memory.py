# Fills memory that its processes share.
# overlay: killed budget
# landlock: killed budget
# memory: 0.5

import planted
import mmap
kept = []
for _ in range(100):
    kept.append(mmap.mmap(-1, 1 << 24))
    kept[-1].write(b"x" * (1 << 24))
