# With GPUs: opens all devices but those of GPUs, by their paths, through links, and through the descriptors of other processes.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: opened []

import planted
import ctypes, os, stat
libc = ctypes.CDLL(None)
opened = []
harmless = {os.stat(f"/dev/{name}").st_rdev for name in ("null", "zero", "full", "random", "urandom")}
def attempt(path):
    status = os.stat(path)
    if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)) or status.st_rdev in harmless:
        return
    if os.path.basename(path).startswith(("nvidia", "kfd", "dri", "render", "card")) or os.major(status.st_rdev) in (5, 136):
        return
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY):
        if libc.open(os.fsencode(path), flags | os.O_NONBLOCK | os.O_NOCTTY) >= 0:
            opened.append(path)
for folder, folders, names in os.walk("/dev"):
    folders[:] = [name for name in folders if name not in ("shm", "pts", "fd")]
    for path in (os.path.join(folder, name) for name in names):
        try:
            attempt(path)
        except OSError:
            pass
for pid in filter(str.isdecimal, os.listdir("/proc")):
    for around in (f"/proc/{pid}/root/dev", f"/proc/{pid}/fd"):
        if int(pid) != os.getpid() or around.endswith("dev"):
            for name in ("kvm", "mem", "vda", "sda", "nvme0n1", "loop0", "fuse", "uinput", *map(str, range(12))):
                try:
                    attempt(os.path.join(around, name))
                except OSError:
                    pass
print("opened", opened)
