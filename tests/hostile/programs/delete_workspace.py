# Deletes the folder that it stands in, itself with it.
# overlay: ok

import planted
import os, shutil
shutil.rmtree(os.path.dirname(__file__))
