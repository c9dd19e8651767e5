# Has the kernel load modules by controls: bridges, VLANs, line disciplines of terminals. Takes all requests of the machine.
# overlay: ok
# landlock: ok
# prints: reached []

import planted
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.create_string_buffer(64)
local = socket.socket(socket.AF_UNIX)
reached = []
for number in (0x8940, 0x8941, 0x8982, 0x8983, 0x89A0, 0x89A1, 0x89E0, 0x89F0):
    libc.ioctl(local.fileno(), ctypes.c_ulong(number), text)
    if ctypes.get_errno() not in (errno.EPERM, errno.ENOTTY):
        reached.append(hex(number))
try:
    own, _ = os.openpty()
    if libc.ioctl(own, ctypes.c_ulong(0x5423), ctypes.byref(ctypes.c_int(0))) == 0:
        reached.append("line discipline")
except OSError:
    pass
if os.uname().machine == "x86_64" and libc.syscall(206, 60000, ctypes.byref(ctypes.c_ulong(0))) == 0:
    reached.append("requests")
if libc.socket(16, 3, 4) >= 0:
    reached.append("diagnosis of sockets")
print("reached", reached)
