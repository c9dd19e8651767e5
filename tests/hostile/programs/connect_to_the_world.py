# Connects to another machine.
# overlay: raised denied-network
# landlock: raised denied-network
# python: raised denied-network

import planted
import socket
socket.create_connection(("192.0.2.1", 80), timeout=5)
