# Several processes take memory, each a little.
# memory: 1
# overlay: killed budget

import planted
import os, time
for _ in range(5):
    if os.fork() == 0:
        taken = b"x" * 300_000_000
        time.sleep(30)
time.sleep(30)
