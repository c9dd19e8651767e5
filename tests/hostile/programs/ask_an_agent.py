# Looks for ways to ask other processes for help.
# overlay: ok
# prints: []

import planted
import os
print([name for name in ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY") if name in os.environ])
