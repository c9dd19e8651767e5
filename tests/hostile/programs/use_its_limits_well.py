# Places itself and its workers on cores, and lowers its own limits and priority.
# overlay: ok
# landlock: ok
# prints: worker 0

import planted
import os, resource, subprocess, sys
os.sched_setaffinity(0, os.sched_getaffinity(0))
os.sched_setaffinity(os.getpid(), os.sched_getaffinity(os.getpid()))
os.setpriority(os.PRIO_PROCESS, 0, 19)
soft, hard = resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)
resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (soft, hard))
own = "import os; os.sched_setaffinity(os.getpid(), os.sched_getaffinity(0)); os.setpriority(os.PRIO_PROCESS, os.getpid(), 19)"
print("worker", subprocess.run([sys.executable, "-c", own]).returncode)
