# Reads the memory and the environment of the process that started it.
# overlay: ok
# landlock: ok
# prints: refused 2 of 2

import planted
import os
refused = 0
for name in ("mem", "environ"):
    try:
        open(f"/proc/{os.getppid()}/{name}", "rb").read(16)
    except OSError:
        refused += 1
print("refused", refused, "of 2")
