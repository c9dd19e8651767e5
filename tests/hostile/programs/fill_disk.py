# Writes a large file.
# disk: 0.03
# overlay: raised run-error

import planted
with open("large", "wb") as file:
    for _ in range(200):
        file.write(bytes(1_000_000))
