# Listens, and talks to itself.
# overlay: ok
# landlock: raised denied-network
# prints: hello

import planted
import socket
listener = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(listener.getsockname())
other, _ = listener.accept()
one.sendall(b"hello")
print(other.recv(5).decode())
