# Makes files at home look old.
# overlay: ok
# landlock: raised denied-write

import planted
import os
os.utime(planted.file, (0, 0))
