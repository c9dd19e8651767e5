# Has the kernel signal another process when a pipe can be read.
# overlay: ok
# landlock: ok

import planted
import fcntl, os, signal
reading, writing = os.pipe()
try:
    fcntl.fcntl(reading, fcntl.F_SETOWN, planted.bystander)
    fcntl.fcntl(reading, 10, signal.SIGKILL)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
except OSError:
    pass
os.write(writing, b"x")
