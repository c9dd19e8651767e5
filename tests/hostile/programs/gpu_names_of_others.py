# With GPUs: names threads of other processes as its own, by their folders in /proc, by links and by its parents.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: named []

import planted
import ctypes, glob, os
libc = ctypes.CDLL(None)
named = []
own = str(os.getpid())
others = {str(planted.bystander), str(os.getppid()), "1", *filter(str.isdecimal, os.listdir("/proc"))} - {own, str(os.getpid())}
paths = [f"/proc/{pid}/{name}" for pid in others for name in ("comm", f"task/{pid}/comm", "oom_score_adj", f"task/{pid}/oom_score_adj", "timens_offsets")]
paths += [f"/proc/{own}/task/{own}/root/proc/{pid}/comm" for pid in others]
paths += [f"/proc/{own}/task/../../{pid}/comm" for pid in others]
for path in paths:
    descriptor = libc.open(os.fsencode(path), os.O_WRONLY)
    if descriptor >= 0 and libc.write(descriptor, b"planted", 7) > 0:
        named.append(path)
print("named", named)
