# Writes to the terminals of the user, and changes their size and mode.
# overlay: ok
# landlock: ok
# prints: opened -1

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
descriptor = libc.open(planted.terminal.encode(), os.O_RDWR | os.O_NOCTTY)
libc.write(descriptor, b"\x1b]0;gone\x07", 9)
libc.ioctl(descriptor, 0x5414, (ctypes.c_uint16 * 4)(1, 1, 0, 0))
libc.ioctl(descriptor, 0x5402, bytes(60))
libc.ioctl(descriptor, 0x540B, 2)
print("opened", descriptor)
