# Writes, asks and starts by calls of Python that are rarely used.
# python: ok denied-network denied-process denied-write
# prints: nothing happened

import io
import os
import socket
import syslog

home = os.path.expanduser("~")


class Undecided:
    """A path that is another one each time it is asked for."""

    def __init__(self) -> None:
        self.paths = [f"{home}/planted", f"{os.environ['TMPDIR']}/harmless"]

    def __fspath__(self) -> str:
        return self.paths.pop(0) if len(self.paths) > 1 else self.paths[0]


known = {"home": home, "io": io, "os": os, "socket": socket, "syslog": syslog, "Undecided": Undecided}
happened = []
for attempt in (
    "os.system(f'touch {home}/planted /nonexistent/python')",
    "os.system(f'gcc --version; touch {home}/planted # /gcc')",
    "os.waitpid(os.posix_spawn('/bin/touch', ['touch', f'{home}/planted'], {}), 0)",
    "io.FileIO(Undecided(), 'w')",
    "open('/proc/sys/kernel/core_pattern', 'r+')",
    "open('/sys/module/printk/parameters/time', 'r+')",
    "socket.sethostname(socket.gethostname())",
    "socket.gethostbyaddr('192.0.2.7')",
    "socket.getnameinfo(('192.0.2.7', 80), 0)",
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "syslog.syslog('I was here')",
):
    try:
        eval(attempt, known)
    except PermissionError as error:
        if "Compile Lens" in str(error):
            continue
    happened.append(attempt)
print("nothing happened" if not happened else happened)
