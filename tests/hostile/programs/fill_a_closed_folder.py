# Fills the disk in a folder of its compiler's cache that cannot be listed.
# overlay: killed budget
# landlock: killed budget
# disk: 0.05

import planted
import os, time
folder = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], f"closed-{time.time_ns()}")
os.mkdir(folder, 0o300)
for number in range(60):
    with open(os.path.join(folder, f"{number}.bin"), "wb") as file:
        file.write(os.urandom(1 << 22))
        file.flush()
        os.fsync(file.fileno())
    time.sleep(0.02)
