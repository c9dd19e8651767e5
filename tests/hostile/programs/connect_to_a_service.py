# Connects to a service on this machine.
# overlay: raised run-error
# landlock: raised denied-network
# python: raised denied-network

import planted
import socket
socket.create_connection(planted.service)
