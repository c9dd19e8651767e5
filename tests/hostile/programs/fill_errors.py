# Writes to standard error without end, from another program.
# output: 5000000
# overlay: killed budget

import planted
import subprocess
subprocess.run(["sh", "-c", "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done"], check=False)
