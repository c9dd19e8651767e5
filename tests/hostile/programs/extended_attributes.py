# Sets and removes extended attributes of the user's files, with the old calls and the new.
# overlay: ok
# landlock: ok

import planted
import ctypes, os
libc = ctypes.CDLL(None)
path = planted.file.encode()
name, value = b"user.gone", b"x"
value_at = ctypes.create_string_buffer(value)
arguments = (ctypes.c_uint64 * 2)(ctypes.addressof(value_at), 1)
libc.setxattr(path, name, value, 1, 0)
libc.lremovexattr(path, b"user.kept")
descriptor = libc.open(path, 0)
libc.fsetxattr(descriptor, name, value, 1, 0)
libc.fremovexattr(descriptor, b"user.kept")
libc.syscall(463, -100, path, 0, name, arguments, ctypes.c_size_t(16))
libc.syscall(463, descriptor, b"", 0x1000, name, arguments, ctypes.c_size_t(16))
libc.syscall(466, -100, path, 0, b"user.kept")
