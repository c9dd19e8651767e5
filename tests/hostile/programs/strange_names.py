# Leaves files with names that no terminal shows, pipes and sockets in its temporary folder.
# overlay: ok
# landlock: ok

import planted
import os, socket, tempfile
os.chdir(tempfile.gettempdir())
for name in (b"\n", b"\xff\xfe", b"-rf", b"\x1b[2J", b"x" * 255, b" ", b"*"):
    open(name, "w").close()
    os.mkdir(b"d" + name[:250])
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
