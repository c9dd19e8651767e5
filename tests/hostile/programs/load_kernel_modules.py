# Asks for sockets of protocols that the kernel would load a module for.
# overlay: ok
# landlock: ok
# prints: opened []

import planted
import ctypes
libc = ctypes.CDLL(None)
pair = (ctypes.c_int * 2)()
opened = [family for family in range(2, 46) if libc.socketpair(family, 2, 0, pair) == 0]
for family in (2, 10):
    for kind, protocol in ((2, 33), (5, 132), (5, 0), (6, 0), (6, 33), (2, 136), (3, 255)):
        if libc.socket(family, kind, protocol) >= 0:
            opened.append((family, kind, protocol))
opened += [protocol for protocol in range(1, 23) if protocol != 15 and libc.socket(16, 3, protocol) >= 0]
print("opened", opened)
