# Takes rights and times from a file with calls of the C library.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
libc.chmod(os.fsencode(planted.file), 0)
libc.utimes(os.fsencode(planted.file), None)
libc.chown(os.fsencode(planted.file), 12345, 12345)
