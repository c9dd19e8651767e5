# Opens as many terminals as it can: all programs of the machine take theirs out of one number.
# overlay: ok
# prints: 256

import planted
import os
count = 0
try:
    while count < 3000:
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
        count += 1
except OSError:
    print(count)
