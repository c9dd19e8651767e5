# Lists the folder of a private key, with its extended attributes.
# landlock: ok
# python: ok
# prints: seen []

import planted
import os
around = os.path.dirname(planted.key)
seen = []
for look in (os.listdir, os.scandir, os.listxattr, lambda path: os.getxattr(path, "user.kept")):
    for path in (around, os.fsencode(around), os.path.join(planted.home, "..", "home", ".ssh")):
        try:
            seen.append(list(look(path)))
        except PermissionError:
            pass
seen += [name for _, _, names in os.walk(planted.home) for name in names if name == os.path.basename(planted.key)]
assert "thesis.tex" in os.listdir(planted.home)
print("seen", seen)
