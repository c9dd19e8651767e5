# Stops itself, and waits to be woken.
# timeout: 2
# overlay: timeout run-error

import planted
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
