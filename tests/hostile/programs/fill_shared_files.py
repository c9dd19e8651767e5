# Fills shared memory with files.
# overlay: raised run-error
# landlock: killed budget
# disk: 0.05

import planted
import os, time
for number in range(60):
    with open(f"/dev/shm/compile-lens-hostile-{number}", "wb") as file:
        file.write(os.urandom(1 << 22))
    time.sleep(0.02)
