# Truncates a file.
# overlay: ok
# landlock: raised denied-write

import planted
import os
os.truncate(planted.file, 0)
