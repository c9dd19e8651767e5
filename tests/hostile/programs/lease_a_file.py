# Takes leases on the user's files, so that whoever opens them waits.
# overlay: ok
# landlock: ok
# prints: refused 4 of 4

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
print("refused", refused, "of 4")
