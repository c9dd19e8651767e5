# Reads what is typed in the terminals of the user.
# overlay: ok
# landlock: ok
# prints: read []

import planted
import glob, os
read = []
for path in [planted.terminal, *glob.glob("/dev/pts/[0-9]*"), "/dev/tty", "/dev/console"]:
    try:
        read.append(os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), 100))
    except OSError:
        pass
print("read", read)
