# Takes all rights from its temporary folder and fills it with folders that nobody may open.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, tempfile
folder = tempfile.gettempdir()
libc = ctypes.CDLL(None)
for number in range(5):
    inner = os.path.join(folder, f"closed-{number}")
    os.makedirs(os.path.join(inner, "x"))
    open(os.path.join(inner, "x", "y"), "w").close()
    for path in (os.path.join(inner, "x"), inner):
        libc.chmod(path.encode(), 0)
        libc.syscall(452, -100, path.encode(), 0, 0)
os.mkdir(os.path.join(folder, "never-open"), 0)
libc.chmod(folder.encode(), 0)
libc.syscall(452, -100, folder.encode(), 0, 0)
