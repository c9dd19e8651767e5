# Writes, asks and starts by calls of Python that are rarely used.
# python: ok denied-process denied-process denied-process denied-write denied-write denied-write denied-write denied-network denied-network denied-network denied-network
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


happened = []
for name, attempt in {
    "a command that ends like a compiler": lambda: os.system(f"touch {home}/planted /nonexistent/python"),
    "a command that begins like one": lambda: os.system(f"gcc --version; touch {home}/planted # /gcc"),
    "a program by its folder": lambda: os.waitpid(os.posix_spawn("/bin/touch", ["touch", f"{home}/planted"], {}), 0),
    "a path that changes": lambda: io.FileIO(Undecided(), "w"),
    "the kernel's settings": lambda: open("/proc/sys/kernel/core_pattern", "r+"),
    "a driver's": lambda: open("/sys/module/printk/parameters/time", "r+"),
    "the name of the machine": lambda: socket.sethostname(socket.gethostname()),
    "a name of an address": lambda: socket.gethostbyaddr("192.0.2.7"),
    "another": lambda: socket.getnameinfo(("192.0.2.7", 80), 0),
    "what comes by the cable": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "the system's log": lambda: syslog.syslog("I was here"),
}.items():
    try:
        attempt()
    except PermissionError as error:
        if "Compile Lens" in str(error):
            continue
    happened.append(name)
print("nothing happened" if not happened else happened)
