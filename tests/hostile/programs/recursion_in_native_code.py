# Recurses in native code until the stack is used up.
# overlay: killed crash

import planted
import functools, sys
sys.setrecursionlimit(1 << 30)
thing = None
for _ in range(1_000_000):
    thing = functools.partial(print, thing)
repr(thing)
