# Changes modes, times and attributes through a descriptor that it reads by.
# overlay: ok
# landlock: ok denied-write denied-write denied-write
# python: ok denied-write denied-write denied-write

import planted
import os
descriptor = os.open(planted.other, os.O_RDONLY)
for change in (
    lambda: os.fchmod(descriptor, 0),
    lambda: os.utime(descriptor, (0, 0)),
    lambda: os.setxattr(descriptor, "user.changed", b"yes"),
):
    try:
        change()
    except OSError:
        pass
