# Changes the environment, the folder and the mask of modes.
# overlay: ok

import planted
import os
os.environ.clear()
os.environ["HOME"] = "/"
os.chdir("/")
os.umask(0)
