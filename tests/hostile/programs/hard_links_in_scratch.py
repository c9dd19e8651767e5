# Links the user's files into its temporary folder, with a mode that cleaning would change.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None)
folder = tempfile.gettempdir()
libc.link(planted.file.encode(), os.path.join(folder, "linked").encode())
for name, target in (("to-home", planted.home), ("to-file", planted.file), ("to-itself", folder)):
    os.symlink(target, os.path.join(folder, name))
os.mkdir(os.path.join(folder, "closed"))
os.symlink(planted.home, os.path.join(folder, "closed", "to-home"))
libc.chmod(os.path.join(folder, "closed").encode(), 0)
