# Looks for keys in every copy that the sandbox has made.
# overlay: ok denied-read
# landlock: ok denied-read

import planted
import os, tempfile
for root in (tempfile.gettempdir(), "/proc/1/root", "/proc/1/cwd", "/proc/self/root" + planted.home):
    for folder, _, names in os.walk(root):
        for name in names if folder.count("/") < 12 else ():
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1000 and b"PRIVATE KEY" in open(path, "rb").read():
                    print(open(path).read())
            except OSError:
                pass
