# Says in the protocol's words that it has ended, and goes on.
# timeout: 3
# overlay: timeout run-error

import planted
import json, os, struct, time
for name in ("end", "started", "hello"):
    event = json.dumps({"event": name, "kind": "finished", "code": 0, "crash_stack": "", "reason": "", "pid": 1}).encode()
    for descriptor in range(3, 1024):
        try:
            os.write(descriptor, b"\x89CLwE" + struct.pack(">I", len(event)) + event)
        except OSError:
            pass
time.sleep(60)
