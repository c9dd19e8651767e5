# With GPUs: makes files of their devices by number, and of a disk beside them, at home, in temporary folders and in its caches, and opens them.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: opened []

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None)
opened = []
folders = (planted.home, tempfile.gettempdir(), os.environ["TORCHINDUCTOR_CACHE_DIR"], "/dev", "/dev/shm")
for folder in folders:
    # of NVIDIA's driver, of its control device, of rendering, of AMD's driver, of a disk, of the memory of the machine
    for kind, major, minor in ((0o20000, 195, 0), (0o20000, 195, 255), (0o20000, 226, 128), (0o20000, 235, 0), (0o60000, 254, 0), (0o20000, 1, 1)):
        path = os.path.join(folder, f"device-{major}-{minor}").encode()
        libc.mknod(path, kind | 0o666, ctypes.c_ulong(os.makedev(major, minor)))
        for flags in (os.O_RDONLY, os.O_RDWR):
            if libc.open(path, flags | os.O_NONBLOCK) >= 0:
                opened.append(path)
        libc.unlink(path)
print("opened", opened)
