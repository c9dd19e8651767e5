# Adds an audit hook that raises at everything.
# overlay: raised run-error

import planted
import sys
def hook(event, arguments):
    if event in ("open", "import"):
        raise RuntimeError(event)
sys.addaudithook(hook)
open(planted.file)
