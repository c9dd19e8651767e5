# Fills sockets that are on their way through other sockets, so that no process has them open.
# memory: 0.5
# overlay: killed budget
# landlock: killed budget

import planted
import array, resource, socket, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
carriers = [socket.socketpair() for _ in range(8)]
for carrier, _ in carriers:
    carrier.setblocking(False)
sent, carrier = 0, 0
while sent < 900 << 20:
    one, other = socket.socketpair()
    one.setblocking(False)
    try:
        while True:
            sent += one.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    carrier = (carrier + 1) % len(carriers)
    carriers[carrier][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other.fileno()]))])
    one.close(), other.close()
time.sleep(30)
