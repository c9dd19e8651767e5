# Connects to a service on this machine.
# overlay: raised denied-network
# landlock: raised denied-network
# python: raised denied-network

import planted
import socket
socket.create_connection(planted.service)
