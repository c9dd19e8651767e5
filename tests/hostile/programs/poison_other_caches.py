# Writes to the caches of runs without a sandbox, and of another workspace.
# overlay: ok
# landlock: ok denied-write denied-write
# prints: own True

import planted
import os
own = os.environ["TORCHINDUCTOR_CACHE_DIR"]
written = []
for owner in ("own", "shared", "sandboxed-0000000000000000"):
    for cache in (own, os.environ["TRITON_CACHE_DIR"]):
        folder = os.path.join(os.path.dirname(cache), owner)
        try:
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(folder, "escape.so"), "w").close()
            written.append(owner)
        except OSError:
            pass
print("own", os.path.isdir(own))
