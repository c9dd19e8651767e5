# Replaces itself with another program.
# overlay: killed run-error
# python: raised denied-process

import planted
import os
os.execv("/bin/sh", ["sh", "-c", f"rm -f '{planted.file}'; exit 5"])
