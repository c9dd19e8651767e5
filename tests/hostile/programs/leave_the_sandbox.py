# Tries to mount, to leave namespaces and to trace its parent.
# overlay: ok
# landlock: ok
# prints: refused 5 of 5

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
refused = 0
for call in (
    lambda: libc.mount(b"none", b"/mnt", b"tmpfs", 0, None),
    lambda: libc.umount(os.fsencode(planted.home)),
    lambda: libc.unshare(0x10000000),
    lambda: libc.ptrace(16, os.getppid(), 0, 0),
    lambda: libc.chroot(b"/"),
):
    refused += call() == -1 and ctypes.get_errno() == 1
print("refused", refused, "of 5")
