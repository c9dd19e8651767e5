# Has children use its processor time, and ignores their ends, so that it never has their time.
# landlock: killed budget
# cpu: 1

import planted
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        while time.process_time() < 0.3:
            pass
        os._exit(0)
    time.sleep(0.3)
