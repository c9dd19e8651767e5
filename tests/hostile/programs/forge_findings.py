# Sends events whose fields are nonsense.
# overlay: ok

import planted
import os, struct
for name in ("raised", "refused", "sandbox", "not_kept", "compiling"):
    event = b'{"event": "%s", "stack": 3, "names": {}}' % name.encode()
    for descriptor in range(600, 1024):
        try:
            os.write(descriptor, b"\x89CLwE" + struct.pack(">I", len(event)) + event)
        except OSError:
            pass
