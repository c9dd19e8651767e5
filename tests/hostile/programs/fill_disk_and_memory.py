# Fills its caches and shared memory, each by less than its limit, and together by more.
# memory: 4
# disk: 0.0625
# overlay: killed budget
# landlock: killed budget

import planted
import os, time
where = os.environ["TORCHINDUCTOR_CACHE_DIR"]
os.makedirs(where, exist_ok=True)
kept = []
for place in ("/dev/shm", where):
    kept.append(open(f"{place}/torch_{os.getpid()}_planted", "wb"))
    for _ in range(11):
        kept[-1].write(os.urandom(1 << 22))
    kept[-1].flush()
    os.fsync(kept[-1].fileno())
time.sleep(30)
