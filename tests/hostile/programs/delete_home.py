# Deletes the home directory.
# overlay: raised run-error
# landlock: raised denied-write

import planted
import shutil
shutil.rmtree(planted.home)
