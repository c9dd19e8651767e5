# Fills its caches with files that are deleted, of which a page is mapped and nothing is open.
# memory: 4
# disk: 0.0625
# overlay: killed budget
# landlock: killed budget

import planted
import ctypes, os, time
where = os.environ["TORCHINDUCTOR_CACHE_DIR"]
os.makedirs(where, exist_ok=True)
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
for number in range(8):
    path = f"{where}/planted-{number}"
    with open(path, "w+b") as file:
        os.remove(path)
        file.write(os.urandom(20 << 20))
        file.flush()
        library.mmap(None, ctypes.c_size_t(4096), 3, 1, file.fileno(), ctypes.c_long(0))
time.sleep(30)
