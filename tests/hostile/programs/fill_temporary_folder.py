# Leaves large temporary files.
# disk: 0.03
# landlock: killed budget
# overlay: raised run-error

import planted
import tempfile, time
for _ in range(100):
    tempfile.NamedTemporaryFile(delete=False).write(bytes(1_000_000))
time.sleep(5)
