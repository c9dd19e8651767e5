# Writes to a file at home through a link in a temporary folder.
# overlay: ok
# landlock: raised denied-write

import planted
import os, tempfile
link = os.path.join(tempfile.mkdtemp(), "link")
os.symlink(planted.file, link)
open(link, "w").write("gone")
