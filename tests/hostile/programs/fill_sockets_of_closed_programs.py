# Leaves sockets to programs that may be run and not read: only root may look into these.
# memory: 0.5
# landlock: killed budget

import planted
import os, shutil, socket, subprocess, time
program = os.environ["TMPDIR"] + "/sleep"
with open(shutil.which("sleep"), "rb") as original, open(program, "wb", opener=lambda path, flags: os.open(path, flags, 0o111)) as copy:
    shutil.copyfileobj(original, copy)
each = 2 * int(open("/proc/sys/net/core/wmem_max").read())
# so few at a time that whoever looks at this program sees less than its limit
few = (1 << 27) // each // 2
started = []
while len(started) < 16:
    pairs = [end for _ in range(few) for end in socket.socketpair()]
    started.append(subprocess.Popen([program, "60"], pass_fds=[end.fileno() for end in pairs]))
    for end in pairs:
        end.close()
time.sleep(30)
