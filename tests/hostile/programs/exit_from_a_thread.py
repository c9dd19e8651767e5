# Ends its process from a thread.
# overlay: killed run-error

import planted
import os, threading, time
threading.Thread(target=os._exit, args=(7,)).start()
time.sleep(30)
