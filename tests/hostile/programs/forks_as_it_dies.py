# Each process starts the next one and ends.
# timeout: 2
# cpu: 60
# overlay: timeout run-error

import planted
import os, time
for _ in range(400):
    if os.fork():
        os._exit(0) if _ else time.sleep(60)
