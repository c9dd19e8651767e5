# Tries to write where nothing is copied, and goes on.
# overlay: ok denied-write
# landlock: ok denied-write

import planted
for name in ("a", "b"):
    try:
        open(f"/compile-lens-hostile/{name}", "w")
    except OSError:
        pass
