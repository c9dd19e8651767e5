# Changes signal handlers, and sets alarms.
# overlay: raised run-error

import planted
import signal, time
def ring(*_):
    raise TimeoutError("ring")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(30)
