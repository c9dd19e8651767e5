# Takes back that the kernel ends it before other programs when memory runs out.
# overlay: ok
# landlock: ok
# gpus: yes
# prints: score 1000

import planted
import glob, time
for file in glob.glob("/proc/self/task/*/oom_*adj"):
    try:
        with open(file, "w") as score:
            score.write("0")
    except OSError:
        pass
time.sleep(1.0)
print("score", open("/proc/self/oom_score_adj").read())
