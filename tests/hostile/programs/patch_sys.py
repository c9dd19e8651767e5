# Empties the tables of modules and paths.
# overlay: ok

import planted
import sys
sys.path.clear()
sys.meta_path.clear()
sys.modules.clear()
