# Fills shared memory with files in a folder.
# overlay: raised run-error
# landlock: killed budget
# disk: 0.05

import planted
import os, time
folder = f"/dev/shm/compile-lens-hostile-{os.getpid()}"
os.mkdir(folder)
kept = []  # one that is closed at once may be left (SECURITY.md)
for number in range(60):
    kept.append(open(os.path.join(folder, f"{number}.bin"), "wb"))
    kept[-1].write(os.urandom(1 << 22))
    kept[-1].flush()
    time.sleep(0.02)
