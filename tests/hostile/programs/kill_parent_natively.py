# Kills the process that started it, with a call of the C library.
# overlay: ok
# landlock: ok
# prints: -1

import planted
import ctypes, os
print(ctypes.CDLL(None).kill(os.getppid(), 9))
