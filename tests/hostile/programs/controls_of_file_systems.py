# Makes snapshots, freezes the file system and shares blocks.
# overlay: ok
# landlock: ok
# prints: refused 6 of 6

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None, use_errno=True)
descriptor = os.open(planted.home, os.O_RDONLY)
numbers = (0x5000940E, 0x50009401, 0xC0045877, 0xC0185879, 0x40049409, 0x40806685)
print("refused", sum(libc.ioctl(descriptor, number, bytes(4096)) == -1 for number in numbers), "of", len(numbers))
