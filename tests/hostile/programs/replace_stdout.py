# Replaces the output streams with what raises.
# overlay: ok

import planted
import sys
class Broken:
    def write(self, *_): raise RuntimeError("no")
    flush = write
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Broken()
