# Leaves a pool of workers running.
# overlay: ok

import planted
import multiprocessing, os
pool = multiprocessing.get_context("fork").Pool(2)
assert pool.map(abs, [-1, -2]) == [1, 2]
os._exit = None
