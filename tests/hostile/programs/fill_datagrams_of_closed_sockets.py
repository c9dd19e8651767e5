# Fills the queue of one socket with what many others have sent, which are closed then.
# memory: 0.5
# overlay: killed budget
# landlock: killed budget

import planted
import os, socket, time
readers = []
for number in range(4000):
    if number % 8 == 0:  # a queue is short
        readers.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        readers[-1].bind(f"\0planted-{os.getpid()}-{number}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        try:
            sender.sendto(bytes(190_000), readers[-1].getsockname())
        except BlockingIOError:
            pass
time.sleep(30)
