# Fills the disk with files that are in no folder any more: open, mapped, and on their way through a socket.
# overlay: killed budget
# landlock: killed budget
# disk: 0.03

import planted
import array, mmap, os, socket, time
path = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "nameless")
one, other = socket.socketpair()
held = []
for count in range(24):
    file = open(path, "w+b")
    os.unlink(path)
    file.write(b"x" * (4 << 20))
    file.flush()
    if count % 3 == 0:
        held.append(file)
    elif count % 3 == 1:
        held.append(mmap.mmap(file.fileno(), 0))
    else:
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()]))])
time.sleep(30)
