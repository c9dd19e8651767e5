# Reads a private key through the files of the process that started it.
# overlay: raised run-error
# landlock: raised run-error

import planted
import os
print(open(f"/proc/{os.getppid()}/root{planted.key}").read())
