# Replaces functions of os that end processes and write.
# overlay: ok

import planted
import os
os.fork = os._exit = os.write = os.getpid = os.kill = os.walk = os.path.realpath = None
