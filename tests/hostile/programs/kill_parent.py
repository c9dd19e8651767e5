# Kills the process that started it.
# overlay: raised denied-process
# landlock: raised denied-process
# python: raised denied-process

import planted
import os, signal
os.kill(os.getppid(), signal.SIGKILL)
