# Ends its process without a word.
# overlay: killed run-error

import planted
import os
os._exit(3)
