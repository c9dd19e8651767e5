# Leaves another program running.
# overlay: ok

import planted
import subprocess
subprocess.Popen(["sh", "-c", "trap '' TERM HUP; sleep 600"], start_new_session=True)
