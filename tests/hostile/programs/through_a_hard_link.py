# Writes to a file at home through a second name of it.
# overlay: ok

import planted
import os
os.link(planted.file, "name")
open("name", "w").write("gone")
