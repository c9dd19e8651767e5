# Stands among modules named like the standard library.
# beside: json logging struct os io re traceback linecache tempfile socket threading types warnings wire job standby sandbox
# overlay: ok

import planted
import torch
