# Takes memory until there is no more.
# memory: 1
# overlay: raised run-error
# landlock: raised run-error

import planted
taken = []
for _ in range(40):
    taken.append(bytearray(100_000_000))
