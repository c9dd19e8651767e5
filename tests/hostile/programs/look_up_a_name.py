# Looks up a name: a name can carry a secret, too.
# overlay: raised denied-network
# landlock: raised denied-network

import planted
import socket
socket.getaddrinfo("secret.example.com", 443)
