# Has the kernel keep rules of a sandbox of its own, 65,536 behind each descriptor.
# overlay: ok
# landlock: ok
# prints: no rules

import planted
import ctypes, errno
call = ctypes.CDLL(None, use_errno=True).syscall
VERSION, CREATE, ADD, RESTRICT = 1, 444, 445, 446
attributes = (ctypes.c_uint64 * 2)(0, 3)
for made in (call(CREATE, None, 0, VERSION), call(CREATE, attributes, 16, 0), call(ADD, 3, 2, attributes, 0), call(RESTRICT, 3, 0)):
    assert made == -1 and ctypes.get_errno() == errno.ENOSYS, (made, ctypes.get_errno())
print("no rules")
