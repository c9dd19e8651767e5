# Makes the user's files, and those in its caches, immutable, append-only and of another project.
# overlay: ok
# landlock: ok
# prints: flags []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
own = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "own")
open(own, "w").close()
changed = []
for path in (planted.file, planted.home, own):
    descriptor = libc.open(path.encode(), 0)
    results = [
        libc.ioctl(descriptor, 0x40086602, (ctypes.c_long * 1)(0x20 | 0x40 | 0x80)),
        libc.ioctl(descriptor, 0x401C5820, (ctypes.c_uint32 * 7)(0x40, 0, 0, 7)),
        libc.ioctl(descriptor, 0x40087602, (ctypes.c_long * 1)(7)),
        libc.syscall(469, -100, path.encode(), (ctypes.c_uint64 * 3)(0x40, 0, 0), ctypes.c_size_t(24), 0),
    ]
    changed += [path for result in results if result >= 0]
os.unlink(own)
print("flags", changed)
