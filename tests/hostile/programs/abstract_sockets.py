# Connects to a socket of the user that has no file.
# overlay: ok
# landlock: ok
# prints: connected -1

import planted
import ctypes, socket
libc = ctypes.CDLL(None)
descriptor = libc.socket(1, 1, 0)
address = b"\x01\x00" + b"\x00" + planted.abstract.encode()
print("connected", libc.connect(descriptor, address, len(address)))
