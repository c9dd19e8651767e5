# Makes its output non-blocking, packet-wise and small, for the next run too.
# overlay: ok
# landlock: ok

import planted
import fcntl, os
for descriptor in (0, 1, 2, *range(600, 640)):
    for command, value in ((fcntl.F_SETFL, os.O_NONBLOCK | os.O_DIRECT), (fcntl.F_SETFL, os.O_NONBLOCK), (1031, 4096)):
        try:
            fcntl.fcntl(descriptor, command, value)
        except OSError:
            pass
