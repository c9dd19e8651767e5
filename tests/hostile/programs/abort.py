# Aborts.
# overlay: killed crash

import planted
import os
os.abort()
