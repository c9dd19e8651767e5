# Takes the output streams away, then raises.
# overlay: raised run-error

import planted
import sys
sys.stdout = sys.stderr = None
raise ValueError("who hears me?")
