# Reads one place in each 2 MB of an address space: the tables for it are memory of the kernel.
# overlay: killed budget
# landlock: killed budget
# memory: 0.5

import planted
import ctypes, mmap, time
kept = []
for _ in range(600):
    kept.append(mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ))
    kept[-1].madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, 1 << 30, 1 << 21):
        kept[-1][place]
time.sleep(30)
