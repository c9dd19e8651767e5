# Prints 20 MB after a run that changed its output.
# overlay: ok
# landlock: ok
# prints: all of it

import planted
import sys
for _ in range(20):
    sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()
print("all of it")
