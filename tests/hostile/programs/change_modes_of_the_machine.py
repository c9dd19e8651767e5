# Changes modes, owners and times of files of /proc that belong to no process, to what they are, by path and descriptor; and opens them to write.
# overlay: ok
# gpus: yes
# prints: changed []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
changed = []
for name in ("/proc/version", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/irq", "/proc/bus", "/proc/fs", "/proc"):
    if not os.path.exists(name):
        continue
    status, path = os.stat(name), name.encode()
    mode = status.st_mode & 0o777
    opened = libc.open(path, os.O_RDONLY)
    for how, result in (
        ("mode", libc.chmod(path, mode)),
        ("mode by descriptor", libc.fchmod(opened, mode)),
        ("owner", libc.chown(path, status.st_uid, status.st_gid)),
        ("owner by descriptor", libc.fchown(opened, status.st_uid, status.st_gid)),
        ("times", libc.utimensat(-100, path, None, 0)),
        ("content", libc.open(path, os.O_WRONLY)),
    ):
        if result >= 0:
            changed.append((name, how))
print("changed", changed)
