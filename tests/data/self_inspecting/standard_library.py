# %% command line parser
import argparse, os
p = argparse.ArgumentParser(); p.add_argument("--n", type=int, default=3)
print(p.parse_args().n, p.prog == os.path.basename(__file__))

# %% parser that refuses
import argparse
p = argparse.ArgumentParser(prog="x"); p.add_argument("name")
p.parse_args()

# %% run as a module of itself
import runpy, sys
if __name__ == "__main__":
    found = runpy.run_path(__file__, run_name="other")
    print(found["__name__"], sys.modules["__main__"].__dict__ is globals())

# %% doctests of main
def f():
    """
    >>> f()
    3
    """
    return 3
import doctest
print(doctest.testmod())

# %% unittest of main
import unittest, sys
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
unittest.main(exit=False, verbosity=0, argv=["x"], testRunner=unittest.TextTestRunner(stream=open("/dev/null", "w")))
print("after")

# %% dataclasses and typing of main
import dataclasses, typing
@dataclasses.dataclass
class C:
    x: "int" = 1
    y: typing.ClassVar[int] = 2
print(C(), typing.get_type_hints(C), C.__module__, dataclasses.fields(C)[0].type)

# %% asyncio
import asyncio
async def main():
    await asyncio.sleep(0)
    return asyncio.get_running_loop().get_debug(), [t.get_name() for t in asyncio.all_tasks()]
print(asyncio.run(main()))

# %% signal handlers in asyncio
import asyncio, signal, os
async def main():
    done = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, done.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(done.wait(), 2)
    print("got it")
asyncio.run(main())

# %% executor of processes
from concurrent.futures import ProcessPoolExecutor
def cube(n): return n ** 3
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool: print(list(pool.map(cube, [1, 2])))

# %% profiler
import cProfile, pstats, io
p = cProfile.Profile(); p.enable(); sorted([3, 1]); p.disable()
print(sorted(k[2] for k in pstats.Stats(p, stream=io.StringIO()).stats))

# %% coverage by settrace
import sys
seen = []
def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__: seen.append((event, frame.f_lineno))
    return tracer
def f():
    x = 1
    return x
sys.settrace(tracer); f(); sys.settrace(None)
print(seen)

# %% memory by tracemalloc
import tracemalloc
print(tracemalloc.is_tracing(), tracemalloc.get_traceback_limit())

# %% recursion
import sys
def depth(n):
    try: return depth(n + 1)
    except RecursionError: return n
print(depth(0) > sys.getrecursionlimit() - 60)

# %% names that are exported
import sys
print(__name__ in sys.modules, sys.modules[__name__].__name__, dir() == sorted(globals()))

# %% interactive hooks
import sys
print(hasattr(sys, "ps1"), hasattr(sys, "last_type"), hasattr(__builtins__, "exit"), sys.flags.interactive, "site" in sys.modules, "readline" in sys.modules)

# %% exit functions that fail
import atexit, sys
sys.unraisablehook = lambda failed: print("failed", failed.exc_value)
@atexit.register
def f(): raise ValueError("at exit")
print("end")

# %% a thread that fails
import threading
t = threading.Thread(target=lambda: 1 / 0, name="mine"); t.start(); t.join()
print("main goes on")

# %% abrupt end
import os, sys
print("flushed", flush=True)
os._exit(0)

# %% closed output
import sys
print("before", flush=True)
sys.stdout.close()

# %% replaced output
import io, sys
sys.stdout = io.StringIO()
print("nobody sees it")
sys.stderr.write(repr(sys.stdout.getvalue()))

# %% error in a module of the user
import os
with open("fails_at_import.py", "w") as file: file.write("x = 1\nraise RuntimeError('inside')\n")
try:
    import fails_at_import
finally:
    os.remove("fails_at_import.py")

# %% user and site customization
import sys, site
print("sitecustomize" in sys.modules, "usercustomize" in sys.modules, site.ENABLE_USER_SITE)

# %% resources used
import resource
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nsignals, resource.getpagesize())

# %% control terminal
import os
try:
    os.ttyname(0)
except OSError as error: print(error.errno)
print(os.environ.get("COLUMNS"), os.get_terminal_size.__name__)
