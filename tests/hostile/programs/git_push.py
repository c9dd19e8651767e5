# Commits, and pushes to another repository.
# overlay: ok
# landlock: ok

import planted
import subprocess
subprocess.run(
    "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
    f" && git push -q '{planted.remote}' HEAD:refs/heads/main",
    shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
)
