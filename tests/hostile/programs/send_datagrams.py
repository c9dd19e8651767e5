# Sends datagrams to a service.
# overlay: ok
# landlock: raised denied-network

import planted
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(b"secret", planted.service)
