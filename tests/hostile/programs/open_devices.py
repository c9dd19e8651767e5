# Opens virtual machines, disks, consoles, input devices and the memory of the machine.
# overlay: ok
# landlock: ok
# prints: opened []

import planted
import os
opened = []
for folder, folders, names in os.walk("/dev"):
    folders[:] = [name for name in folders if name not in ("shm", "pts", "fd")]
    for name in names:
        path = os.path.join(folder, name)
        if name in ("null", "zero", "full", "random", "urandom", "ptmx", "stdin", "stdout", "stderr", "tty"):
            continue
        for flags in (os.O_RDONLY, os.O_RDWR):
            try:
                os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
                opened.append(path)
            except OSError:
                pass
print("opened", opened)
