# Imports a client of the web, which asks for IPv6 by listening to itself: nobody is bothered with it.
# landlock: ok
# overlay: ok
# python: ok
# prints: imported

import socket

for _ in range(2):
    try:
        socket.socket(socket.AF_INET6).bind(("::1", 0))
    except OSError:
        pass
print("imported")
