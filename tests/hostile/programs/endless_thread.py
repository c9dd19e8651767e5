# Starts a thread that never ends.
# timeout: 2
# overlay: timeout run-error

import planted
import threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
