# Fills the disk through the cache of its compiler.
# overlay: killed budget
# landlock: killed budget
# disk: 0.05

import planted
import os, time
folder = os.environ["TORCHINDUCTOR_CACHE_DIR"]
for number in range(60):
    with open(os.path.join(folder, f"{number}.bin"), "wb") as file:
        file.write(os.urandom(1 << 22))
    time.sleep(0.02)
