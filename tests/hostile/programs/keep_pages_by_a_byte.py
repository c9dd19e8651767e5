# Has pipes and sockets hold a page, or one of two megabytes, for each byte; takes huge pages of the machine. Copies files in all other ways.
# overlay: ok
# landlock: ok
# prints: answers [22, 22, 22, 22, 12], copied 300000 300000 300000 300000

import planted
import asyncio, ctypes, errno, mmap, os, shutil, socket, subprocess, sys, tempfile, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
SENDFILE, SPLICE, TEE, VMSPLICE = 40, 275, 276, 278
folder = tempfile.mkdtemp()
path = os.path.join(folder, "data")
with open(path, "wb") as file:
    file.write(b"x" * 300_000)
source = os.open(path, os.O_RDONLY)
reads, writes = os.pipe()
other, others = os.pipe()
one, two = socket.socketpair()
os.write(others, b"waits")
vector = (ctypes.c_void_p * 2)(ctypes.addressof(ctypes.create_string_buffer(b"y")), 1)
def answer(result):
    return ctypes.get_errno() if result in (-1, 2**64 - 1) else 0
answers = [
    answer(libc.syscall(SENDFILE, one.fileno(), source, None, ctypes.c_size_t(1))),
    answer(libc.syscall(SPLICE, source, None, writes, None, ctypes.c_size_t(1), 0)),
    answer(libc.syscall(TEE, other, writes, ctypes.c_size_t(1), 0)),
    answer(libc.syscall(VMSPLICE, writes, vector, ctypes.c_size_t(1), 0)),
    answer(libc.mmap(None, ctypes.c_size_t(1 << 21), 3, 0x22 | 0x40000, -1, ctypes.c_long(0))),
]

shutil.copyfile(path, path + ".copy")
subprocess.run(["cp", path, path + ".by-cp"], check=True)
async def serve_once():
    received = asyncio.get_running_loop().create_future()
    async def take(reader, writer):
        received.set_result(len(await reader.read(-1)))
        writer.close()
    server = await asyncio.start_unix_server(take, os.path.join(folder, "socket"))
    _, writer = await asyncio.open_unix_connection(os.path.join(folder, "socket"))
    with open(path, "rb") as file:
        await asyncio.get_running_loop().sendfile(writer.transport, file)
    writer.close()
    server.close()
    return await received
sent = []
def take_all():
    while data := two.recv(1 << 16):
        sent.append(len(data))
thread = threading.Thread(target=take_all)
thread.start()
with open(path, "rb") as file:
    one.sendfile(file)
one.close()
thread.join()
print(f"answers {answers}, copied", os.path.getsize(path + ".copy"), os.path.getsize(path + ".by-cp"), asyncio.run(serve_once()), sum(sent))
