# Takes all rights from every file at home.
# overlay: raised denied-write
# landlock: raised denied-write

import planted
import os
for folder, _, names in os.walk(planted.home):
    for name in names:
        os.chmod(os.path.join(folder, name), 0)
