# Prints without end.
# output: 5000000
# overlay: killed budget
# landlock: killed budget

import planted
while True:
    print("x" * 100_000)
