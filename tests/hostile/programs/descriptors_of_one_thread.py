# Has a thread open files that are in no list of its process.
# overlay: ok
# landlock: ok
# prints: all are listed

import planted
import ctypes, errno, os, platform, subprocess, threading
call = ctypes.CDLL(None, use_errno=True).syscall
VM, THREAD, CLOSE_RANGE, UNSHARE = 0x100, 0x10000, 436, 2
CLONE = {"x86_64": 56, "aarch64": 220}[platform.machine()]
answers = []

def open_apart():
    answers.append((call(CLOSE_RANGE, 1 << 20, 1 << 21, UNSHARE), ctypes.get_errno()))
    opened = os.open("/dev/null", os.O_RDONLY)
    answers.append(str(opened) in os.listdir(f"/proc/{os.getpid()}/fd"))
    # where it is let through, the kernel says that such a thread shares handlers of signals, too
    answers.append((call(CLONE, VM | THREAD, 0, 0, 0, 0), ctypes.get_errno()))

thread = threading.Thread(target=open_apart)
thread.start()
thread.join()
assert answers == [(-1, errno.ENOSYS), True, (-1, errno.EPERM)], answers
assert call(CLOSE_RANGE, 1 << 20, 1 << 21, 0) == 0
assert subprocess.run(["cat", "/dev/null"]).returncode == 0
print("all are listed")
