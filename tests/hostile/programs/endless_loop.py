# Never ends.
# timeout: 2
# overlay: timeout run-error

import planted
while True:
    pass
