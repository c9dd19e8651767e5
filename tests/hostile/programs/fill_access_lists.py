# Has the kernel keep a long list of access rights for each of many files in memory.
# overlay: ok
# landlock: ok
# prints: nothing is kept

import planted
import os, struct, tempfile

def rights(entries):
    found = [(1, 7, 0xFFFFFFFF), *[(2, 7, os.getuid())] * entries, (4, 5, 0xFFFFFFFF), (16, 7, 0xFFFFFFFF), (32, 5, 0xFFFFFFFF)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in found)

def length(path, name):
    try:
        return len(os.getxattr(path, name))
    except OSError:
        return 0

for place in ("/dev/shm", tempfile.gettempdir()):
    folder = tempfile.mkdtemp(dir=place)
    for name in ("system.posix_acl_default", "system.posix_acl_access", "user.long"):
        try:
            os.setxattr(folder, name, rights(8000))
        except OSError:
            pass
    open(f"{folder}/file", "w").close()
    assert length(folder, "system.posix_acl_default") + length(f"{folder}/file", "system.posix_acl_access") == 0
    os.setxattr(folder, "user.short", b"x" * 100)
    os.remove(f"{folder}/file")
    os.rmdir(folder)
print("nothing is kept")
