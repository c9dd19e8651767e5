# Opens a terminal of its own and talks through it.
# overlay: ok
# prints: read b'hello'

import planted
import os, pty
master, slave = pty.openpty()
os.write(slave, b"hello")
print("read", os.read(master, 5))
