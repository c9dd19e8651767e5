# Writes what looks like the protocol to every descriptor.
# overlay: ok

import planted
import os
for descriptor in range(1, 1024):
    for junk in (b"\x89CLwE\xff\xff\xff\xffjunk", b"\x89CLwT\x00\x10\x00\x00half"):
        try:
            os.write(descriptor, junk)
        except OSError:
            pass
