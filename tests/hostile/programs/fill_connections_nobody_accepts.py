# Fills connections that nobody accepts, and closes them: one socket is open.
# memory: 0.5
# overlay: killed budget
# landlock: killed budget

import planted
import os, socket, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(f"\0planted-{os.getpid()}")
listening.listen(4096)
sent = 0
while sent < 900 << 20:
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        client.connect(listening.getsockname())
        try:
            while True:
                sent += client.send(bytes(1 << 16))
        except BlockingIOError:
            pass
time.sleep(30)
