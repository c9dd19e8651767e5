# Fills its caches with large programs that are deleted while they run.
# memory: 4
# disk: 0.0625
# overlay: killed budget
# landlock: killed budget

import planted
import os, shutil, subprocess, time
where = os.environ["TORCHINDUCTOR_CACHE_DIR"]
os.makedirs(where, exist_ok=True)
for number in range(8):
    path = f"{where}/planted-{number}"
    with open(shutil.which("sleep"), "rb") as program, os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), "wb") as file:
        file.write(program.read() + os.urandom(20 << 20))
    subprocess.Popen([path, "40"])
    os.remove(path)
time.sleep(30)
