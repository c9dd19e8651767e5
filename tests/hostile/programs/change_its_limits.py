# Raises its limits and its priority.
# overlay: ok
# landlock: ok
# prints: refused 2 of 2

import planted
import os, resource
refused = 0
for change in (lambda: os.nice(-30), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)):
    try:
        change()
    except (OSError, ValueError):
        refused += 1
print("refused", refused, "of 2")
