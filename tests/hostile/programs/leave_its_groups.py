# Leaves its control groups, lifts their limits, and has the kernel start a program when they are empty.
# overlay: ok
# landlock: ok
# prints: changed []

import planted
import ctypes, os
libc = ctypes.CDLL(None)
changed = []
for folder, _, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        if name in ("cgroup.procs", "tasks", "memory.limit_in_bytes", "memory.max", "pids.max", "release_agent", "notify_on_release"):
            descriptor = libc.open(os.path.join(folder, name).encode(), os.O_WRONLY)
            if descriptor >= 0:
                changed.append(os.path.join(folder, name))
for name in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/kernel/mm/ksm/run", "/sys/power/state"):
    if libc.open(name.encode(), os.O_WRONLY) >= 0:
        changed.append(name)
print("changed", changed)
