# Opens raw, packet and virtual-machine sockets.
# overlay: ok
# landlock: ok denied-network
# prints: refused 3 of 3

import planted
import socket
refused = 0
for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
    try:
        socket.socket(family, kind)
    except OSError:
        refused += 1
print("refused", refused, "of 3")
