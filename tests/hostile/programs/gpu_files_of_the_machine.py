# With GPUs: opens files of their drivers, of their bus and of the kernel to write, and only that: what is written there is for the machine.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: writable []

import planted
import ctypes, glob, os
libc = ctypes.CDLL(None)
patterns = (
    "/proc/driver/nvidia/*", "/proc/driver/nvidia/gpus/*/*", "/proc/driver/nvidia/capabilities/*", "/proc/driver/nvidia-uvm/*", "/proc/driver/*",
    "/proc/irq/*/smp_affinity", "/proc/irq/default_smp_affinity", "/proc/bus/pci/*/*", "/proc/sys/vm/*", "/proc/sys/kernel/*", "/proc/sys/net/core/*",
    "/proc/net/*", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/dynamic_debug/control", "/proc/pressure/*", "/proc/scsi/*", "/proc/acpi/*",
    "/sys/bus/pci/rescan", "/sys/bus/pci/drivers_autoprobe", "/sys/bus/pci/devices/*/*", "/sys/bus/*/drivers/*/*bind", "/sys/module/*/parameters/*",
    "/sys/class/drm/*/*", "/sys/class/*/*/uevent", "/sys/devices/system/cpu/cpu0/*", "/sys/devices/system/cpu/*", "/sys/power/*", "/sys/kernel/*",
    "/sys/kernel/mm/*/*", "/sys/kernel/debug/*", "/sys/kernel/tracing/*", "/sys/fs/cgroup/*", "/sys/firmware/*/*", "/sys/block/*/queue/*",
)
paths = [path for pattern in patterns for path in glob.glob(pattern) if os.path.isfile(path)]
writable = []
for path in paths:
    # others wait for a reader, or act on being opened alone
    descriptor = libc.open(os.fsencode(path), os.O_WRONLY | os.O_NONBLOCK)
    if descriptor >= 0:
        writable.append(path)
        libc.close(descriptor)
assert len(paths) > 50
print("writable", writable)
