# Starts processes in sessions of their own that ignore signals.
# processes: 40
# overlay: killed budget

import planted
import os, signal, time
for number in range(signal.SIGHUP, signal.SIGTERM + 1):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_IGN)
for _ in range(120):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
time.sleep(60)
