# Fills sockets that nobody reads.
# memory: 0.5
# landlock: killed budget

import planted
import resource, socket, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
kept = []
try:
    while True:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        kept.append(pair)
        try:
            while True:
                pair[0].send(bytes(1 << 16))
        except BlockingIOError:
            pass
except OSError:
    time.sleep(30)
