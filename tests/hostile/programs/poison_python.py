# Puts a module where every Python of the user's would import it.
# overlay: ok
# landlock: raised denied-write

import planted
import os, site
folder = site.getusersitepackages()
os.makedirs(folder, exist_ok=True)
open(os.path.join(folder, "sitecustomize.py"), "w").write("raise SystemExit")
