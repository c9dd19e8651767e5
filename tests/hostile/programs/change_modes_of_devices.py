# Changes the mode of the null device, to what it is: by its path, by a descriptor, and by its own input.
# overlay: ok
# prints: changed []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
changed = []
opened = os.open("/dev/null", os.O_RDWR)
for name, result in (
    ("path", libc.chmod(b"/dev/null", 0o666)),
    ("descriptor", libc.fchmod(opened, 0o666)),
    ("input", libc.fchmod(0, 0o666)),
    ("owner", libc.fchown(0, -1, -1)),
    ("times", libc.futimens(0, None)),
):
    if result == 0:
        changed.append(name)
print("changed", changed)
