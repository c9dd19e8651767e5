# Writes many files at home.
# disk: 0.03
# overlay: raised run-error

import planted
import os
for number in range(200):
    with open(os.path.join(planted.home, f"{number}"), "wb") as file:
        file.write(bytes(1_000_000))
