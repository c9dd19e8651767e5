# Talks to a service through its socket file.
# overlay: raised denied-network
# landlock: raised denied-network
# python: raised denied-network

import planted
import socket
socket.socket(socket.AF_UNIX).connect(planted.socket)
