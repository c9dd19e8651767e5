# Closes every descriptor.
# overlay: killed run-error

import planted
import os
os.closerange(0, 5000)
