"""An error in a thread, which the main thread raises again."""

from concurrent.futures import ThreadPoolExecutor

import torch


# program: uncaught_thread
@torch.compile(backend="eager", fullgraph=True)
def picked(x, names):
    return x[len(names) :] if x.sum() > 0 else x
#                             ^^^^^^^^^^^ fullgraph-break/GB0170


with ThreadPoolExecutor(1) as pool:
    pool.submit(picked, torch.ones(4), ("a",)).result()
