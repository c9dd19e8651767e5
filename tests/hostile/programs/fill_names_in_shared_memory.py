# Fills shared memory with names of an empty file, which take none of its room and a kilobyte of the kernel's each.
# landlock: killed budget
# disk: 0.005

import planted
import os, time
path = f"/dev/shm/compile-lens-hostile-{os.getpid()}"
kept = open(path, "wb")
for number in range(2_000):
    os.link(path, f"{path}-{number}")
time.sleep(30)
