# Sends to a service in the packet that opens the connection.
# overlay: ok
# landlock: ok

import planted
import ctypes, socket
libc = ctypes.CDLL(None)
address = b"\x02\x00" + planted.service[1].to_bytes(2, "big") + socket.inet_aton("127.0.0.1") + bytes(8)
for _ in range(2):
    descriptor = libc.socket(2, 1, 0)
    text, at = ctypes.create_string_buffer(b"gone"), ctypes.create_string_buffer(address)
    part = (ctypes.c_uint64 * 2)(ctypes.addressof(text), 4)
    message = (ctypes.c_uint64 * 8)(ctypes.addressof(at), 16, ctypes.addressof(part), 1, 0, 0, 0, 0)
    libc.sendto(descriptor, b"gone", 4, 0x20000000, address, 16)
    libc.sendmsg(descriptor, message, 0x20000000)
    libc.syscall(307, descriptor, message, 1, 0x20000000)
