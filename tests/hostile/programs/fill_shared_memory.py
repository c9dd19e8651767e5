# Leaves a block of shared memory.
# overlay: ok

import planted
from multiprocessing import resource_tracker, shared_memory
resource_tracker.register = lambda *_: None
shared_memory.SharedMemory("compile-lens-hostile", create=True, size=1 << 20)
