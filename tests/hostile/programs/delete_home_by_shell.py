# Deletes the home directory through a shell.
# overlay: ok
# landlock: ok
# python: raised denied-process

import planted
import subprocess
subprocess.run(["sh", "-c", f"rm -rf '{planted.home}'"], check=False)
