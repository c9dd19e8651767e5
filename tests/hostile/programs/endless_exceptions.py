# Raises exceptions that cause each other.
# overlay: raised run-error

import planted
error = None
for number in range(500):
    try:
        raise ValueError(number) from error
    except ValueError as caught:
        error = caught
raise error
