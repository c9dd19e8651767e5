# Has the system kill another process when memory is short.
# overlay: ok denied-write denied-write denied-write denied-write
# landlock: ok denied-write denied-write denied-write denied-write

import planted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in (
    lambda: open(f'/proc/{planted.bystander}/oom_score_adj', 'w').write('1000'),
    lambda: open('/proc/self/oom_score_adj', 'w').write('-1000'),
    lambda: open(f'/proc/{planted.bystander}/autogroup', 'w').write('19'),
    lambda: open(f'/proc/{planted.bystander}/coredump_filter', 'w').write('0'),
    lambda: open(f'/proc/{planted.bystander}/timerslack_ns', 'w').write('1'),
):
    try:
        call()
    except OSError:
        pass
