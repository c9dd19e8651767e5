# Blocks all signals in the only thread.
# timeout: 2
# overlay: timeout run-error

import planted
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
