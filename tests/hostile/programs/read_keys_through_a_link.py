# Reads a private key through a link.
# overlay: raised denied-read
# python: raised denied-read

import planted
import os, tempfile
link = os.path.join(tempfile.mkdtemp(), "link")
os.symlink(planted.key, link)
print(open(link).read())
