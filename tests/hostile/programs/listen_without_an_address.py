# Waits for connections from the network on a port that the kernel picks.
# overlay: ok
# landlock: ok
# prints: listening False

import planted
import ctypes, os
libc = ctypes.CDLL(None)
shared = os.readlink("/proc/self/ns/net") == planted.network
listening = []
for family in (2, 10):
    descriptor = libc.socket(family, 1, 0)
    listening.append(shared and descriptor >= 0 and libc.listen(descriptor, 1) == 0)
print("listening", any(listening))
