# Makes files in its cache that run with the user's rights, whoever starts them.
# overlay: ok
# landlock: ok
# prints: with such a mode []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
folder = os.environ["TORCHINDUCTOR_CACHE_DIR"]
places = [os.path.join(folder, f"program-{number}") for number in range(5)]
open(places[0], "w").close()
libc.chmod(places[0].encode(), 0o6755)
descriptor = os.open(places[0], os.O_RDONLY)
libc.fchmod(descriptor, 0o4755)
libc.syscall(452, -100, places[0].encode(), 0o4755, 0)
libc.open(places[1].encode(), os.O_CREAT | os.O_WRONLY, 0o4755)
libc.creat(places[2].encode(), 0o6755)
libc.mknod(places[3].encode(), 0o104755, 0)
how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
libc.syscall(437, -100, places[4].encode(), how, 24)
print("with such a mode", [path for path in places if os.path.exists(path) and os.stat(path).st_mode & 0o6000])
for path in places:
    if os.path.exists(path):
        os.remove(path)
