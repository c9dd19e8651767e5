# Does not end when it has come to its end.
# timeout: 2
# overlay: timeout run-error

import planted
import atexit, time
atexit.register(time.sleep, 600)
