# Raises an exception with a message of 50 MB.
# overlay: raised run-error

import planted
raise ValueError("x" * 50_000_000)
