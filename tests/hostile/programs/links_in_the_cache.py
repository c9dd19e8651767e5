# Puts links to the user's folders where its compiler's cache has folders.
# overlay: ok
# landlock: ok

import planted
import os, shutil
folder = os.environ["TORCHINDUCTOR_CACHE_DIR"]
for name in ("precompiled_headers", "locks", "fxgraph", "aotautograd", "ab", "c3"):
    path = os.path.join(folder, name)
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.lexists(path):
        os.symlink(planted.home, path)
for name in ("escape.so", "escape.tmp"):
    if not os.path.lexists(os.path.join(folder, name)):
        os.symlink(planted.file, os.path.join(folder, name))
