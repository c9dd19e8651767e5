# Replaces the hooks for exceptions with what raises.
# overlay: raised run-error

import planted
import sys, threading
def broken(*_):
    raise RuntimeError("worse")
sys.excepthook = threading.excepthook = sys.unraisablehook = broken
raise ValueError("first")
