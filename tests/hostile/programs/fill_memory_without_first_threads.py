# Fills memory of processes whose first thread has ended.
# memory: 0.5
# overlay: killed budget
# landlock: killed budget

import planted
import ctypes, os, platform, threading, time
call = ctypes.CDLL(None).syscall
EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]

def fill():
    kept = bytearray(150 << 20)
    for place in range(0, len(kept), 4096):
        kept[place] = 1
    time.sleep(60)

for _ in range(8):
    if os.fork() == 0:
        threading.Thread(target=fill).start()
        call(EXIT, 0)
time.sleep(60)
