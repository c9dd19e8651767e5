# Starts processes that start processes.
# processes: 40
# overlay: killed budget
# landlock: killed budget

import planted
import os, time
for _ in range(8):
    os.fork()
time.sleep(60)
