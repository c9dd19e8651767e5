# Fills memory that it shares with nobody, and has it mapped but not in its tables.
# memory: 0.5
# overlay: killed budget
# landlock: killed budget

import planted
import mmap, time
kept = []
for _ in range(60):
    kept.append(mmap.mmap(-1, 1 << 24))
    kept[-1].write(b"x" * (1 << 24))
    kept[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(30)
