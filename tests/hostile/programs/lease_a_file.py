# Takes leases on the user's files, so that whoever opens them waits, and leaves hints with them.
# overlay: ok
# landlock: ok
# prints: refused 6 of 6

import planted
import fcntl, os
refused = 0
for path in (planted.file, planted.other):
    descriptor = os.open(path, os.O_RDONLY)
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
        except OSError:
            refused += 1
    try:
        fcntl.fcntl(descriptor, 1036, bytes(8))  # how long its content will live (fcntl(2), F_SET_RW_HINT)
    except OSError:
        refused += 1
print("refused", refused, "of 6")
