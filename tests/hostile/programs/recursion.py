# Recurses without end.
# overlay: raised run-error

import planted
def down():
    return down()
down()
