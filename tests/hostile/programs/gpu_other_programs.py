# With GPUs: has another program do what a driver needs, which the run's own process alone may: name threads, open devices.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: child []

import planted
import subprocess, sys
CHILD = """
import ctypes, glob, os
libc = ctypes.CDLL(None)
done = []
for path in (f"/proc/{os.getpid()}/comm", f"/proc/{os.getpid()}/task/{os.getpid()}/comm", f"/proc/{os.getppid()}/comm", f"/proc/{os.getppid()}/mem",
             f"/proc/{os.getpid()}/oom_score_adj", "/proc/self/uid_map"):
    descriptor = libc.open(path.encode(), os.O_WRONLY)
    if descriptor >= 0 and libc.write(descriptor, b"1", 1) > 0:
        done.append(path.replace(str(os.getpid()), "own"))
print("child", done)
"""
print(subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True).stdout)
