# Ignores every signal that it can, and never ends.
# timeout: 2
# overlay: timeout run-error

import planted
import signal, time
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
while True:
    time.sleep(1)
