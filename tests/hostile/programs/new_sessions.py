# Begins sessions, each of which a kernel weighs like that of the editor, whatever the priority within it.
# overlay: ok
# landlock: ok
# prints: low

import planted
import os, time
GROUP = "/proc/self/autogroup"
def in_a_session_of_its_own():
    os.setsid()
    for _ in range(300):
        if not os.path.exists(GROUP) or open(GROUP).read().endswith(" nice 10\n"):
            os._exit(0)
        time.sleep(0.1)
    os._exit(1)
children = [os.fork() or in_a_session_of_its_own() for _ in range(2)]
print("low" if [os.waitpid(child, 0)[1] for child in children] == [0, 0] else "high")
