# Writes to a file through memory.
# overlay: ok
# landlock: raised denied-write

import planted
import mmap
with open(planted.file, "r+b") as file:
    mmap.mmap(file.fileno(), 0)[:4] = b"gone"
