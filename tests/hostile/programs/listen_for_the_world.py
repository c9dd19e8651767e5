# Listens on every address.
# overlay: ok
# landlock: raised denied-network

import planted
import socket
socket.create_server(("0.0.0.0", 0))
