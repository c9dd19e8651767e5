# Becomes a daemon: forks twice, leaves its session, ignores signals.
# overlay: ok
# landlock: ok

import planted
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
    os._exit(0)
