# Kills itself.
# overlay: killed run-error

import planted
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
