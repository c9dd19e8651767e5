# Renames and swaps files at home.
# overlay: ok
# landlock: raised denied-write

import planted
import os
os.rename(planted.file, planted.file + ".old")
os.rename(planted.other, planted.file)
