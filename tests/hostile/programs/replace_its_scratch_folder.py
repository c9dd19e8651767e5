# Puts a link to the user's home in the place of its temporary folder.
# overlay: ok
# landlock: ok

import planted
import ctypes, os, tempfile
libc = ctypes.CDLL(None)
folder = tempfile.gettempdir().encode()
libc.rename(folder, folder + b"-aside")
libc.rmdir(folder)
libc.symlink(planted.home.encode(), folder)
