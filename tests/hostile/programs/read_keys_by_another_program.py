# Reads a private key with another program.
# overlay: ok
# landlock: ok

import planted
import subprocess
subprocess.run(["cat", planted.key, planted.token], check=False)
