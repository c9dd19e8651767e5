# Opens what takes memory of the kernel alone, as often as it can, in many processes.
# landlock: killed budget
# memory: 0.2
# nightly: 32 processes

import planted
import os, resource, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
for _ in range(31):
    if os.fork() == 0:
        break
try:
    while True:
        os.eventfd(0)
except OSError:
    time.sleep(30)
