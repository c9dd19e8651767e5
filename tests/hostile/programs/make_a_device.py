# Makes device files of its own: a disk, the memory of the machine, a terminal.
# overlay: ok
# landlock: ok
# prints: refused 4 of 4

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for major, minor in ((254, 0), (1, 1), (136, 0), (10, 232)):
    path = os.path.join(tempfile.gettempdir(), f"device-{major}").encode()
    made = libc.syscall(133, path, (0o20000 if major != 254 else 0o60000) | 0o666, os.makedev(major, minor)) == 0
    refused += not (made and libc.open(path, 0) >= 0)
print("refused", refused, "of 4")
