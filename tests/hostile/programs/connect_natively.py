# Connects to a service with calls of the C library.
# overlay: ok
# landlock: ok
# prints: -1

import planted
import ctypes, socket, struct
libc = ctypes.CDLL(None)
host, port = planted.service
address = struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + socket.inet_aton(host) + bytes(8)
print(libc.connect(libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0), address, len(address)))
