# %% main module
print(__name__, __file__.endswith("main_module.py"), __package__, __spec__, __doc__, __cached__)
print(type(__loader__).__name__, getattr(__loader__, "name", None), __builtins__.__name__)
print(sorted(name for name in globals()))

# %% main is in sys.modules
import sys
main = sys.modules["__main__"]
print(main.__dict__ is globals(), main.__file__ == __file__, repr(main).startswith("<module '__main__' from"))

# %% annotations of main
x: int = 1
print(__annotations__)

# %% arguments
import os, sys
print(len(sys.argv), os.path.basename(sys.argv[0]), sys.argv[0] == __file__)

# %% original arguments
import os, sys
print(len(sys.orig_argv), os.path.basename(sys.orig_argv[-1]), sys.orig_argv[0] == sys.executable)

# %% path of modules
import os, sys
print(sys.path[0] == os.path.dirname(__file__), len(sys.path), [os.path.basename(p) for p in sys.path])
print(any("compile_lens" in p for p in sys.path))

# %% flags
import sys
print(sys.flags)

# %% options of the interpreter
import sys
print(sys._xoptions, sys.warnoptions, sys.pycache_prefix, sys.platlibdir)

# %% prefix and executable
import os, sys, sysconfig
print(os.path.basename(sys.executable), sys.prefix != sys.base_prefix, sysconfig.get_default_scheme(), sys.implementation.name)

# %% finders of modules
import sys
print([getattr(f, "__name__", type(f).__name__) for f in sys.meta_path], [getattr(h, "__name__", "?") for h in sys.path_hooks])

# %% hooks of the interpreter
import sys, threading
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.breakpointhook is sys.__breakpointhook__)
print(sys.unraisablehook is sys.__unraisablehook__, threading.excepthook is threading.__excepthook__)

# %% tracing and profiling
import sys, threading
print(sys.gettrace(), sys.getprofile(), threading._trace_hook, threading._profile_hook)

# %% recursion limit and switch interval
import sys
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0)

# %% garbage collector
import gc
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks))

# %% async hooks
import sys
print(sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth())

# %% builtins
import builtins
print(builtins.print.__module__, type(builtins.open).__name__, type(builtins.__import__).__name__, builtins.__build_class__)
print(sorted(n for n in dir(builtins) if n not in ("_", "__debug__"))[:200])

# %% modules of ours
# differs: modules
import sys
print([name for name in sys.modules if "compile_lens" in name or "pytest" in name or "pygls" in name])

# %% modules that are imported
# differs: modules
import sys
print("torch" in sys.modules, "sympy" in sys.modules, "torch._inductor.compile_fx" in sys.modules)

# %% stack at the top
# differs: call stack
import inspect
print(len(inspect.stack()))

# %% caller of the top
# differs: call stack
import sys
try:
    print(sys._getframe(1).f_code.co_name)
except ValueError as error:
    print(error)

# %% innermost frames
import inspect, sys
def f():
    g()
def g():
    frame = sys._getframe()
    print(frame.f_code.co_name, frame.f_back.f_code.co_name, frame.f_back.f_back.f_code.co_name, frame.f_lineno)
    print([info.function for info in inspect.stack()][:3], [info.lineno for info in inspect.stack()][:3])
f()

# %% frame of the top
import sys
frame = sys._getframe()
print(frame.f_code.co_name, frame.f_globals is globals(), frame.f_locals is globals(), frame.f_builtins is __builtins__.__dict__, frame.f_trace)
print(frame.f_code.co_filename == __file__, frame.f_code.co_firstlineno, frame.f_code.co_flags)

# %% future flags do not leak
print(compile("1", "x", "eval").co_flags, eval("1 if True else 2"))
def f(x: undefined_name = None): ...

# %% source of a function
import inspect
def f(a, *, b=2):
    """Doc."""
    return a + b
class C:
    def m(self): return 1
print(inspect.getsource(f))
print(inspect.getsource(C), inspect.getsourcefile(f) == __file__, inspect.getfile(C) == __file__, inspect.getmodule(f).__name__)

# %% lines of this file
import linecache
print(linecache.getline(__file__, 1).strip(), len(linecache.getlines(__file__)), open(__file__).readline().strip())

# %% traceback of an exception
import traceback
def f():
    raise ValueError("x")
try:
    f()
except ValueError as error:
    print([(e.name, e.lineno, e.line) for e in traceback.extract_tb(error.__traceback__)])
    print(traceback.format_exc().replace(__file__, "FILE"))
    print(error.__context__, error.__cause__, error.__traceback__.tb_frame.f_code.co_name)

# %% exception in another
import traceback
try:
    try:
        {}["a"]
    except KeyError:
        1 / 0
except ZeroDivisionError as error:
    print("".join(traceback.TracebackException.from_exception(error, capture_locals=False).format()).replace(__file__, "FILE"))

# %% no exception is handled
import sys
print(sys.exc_info())

# %% a hook of exceptions is called
import sys
sys.excepthook = lambda kind, value, tb: print("hooked", kind.__name__, value)
raise ValueError("end")

# %% text of an uncaught exception
def f(x):
    return 1 / x
f(0)

# %% exit with a text
import sys
sys.exit("the text")

# %% exit with a number
import atexit, sys
atexit.register(print, "at exit")
sys.exit(3)

# %% functions at the exit
import atexit
atexit.register(print, "first")
atexit.register(print, "second")

# %% threads at the exit
import threading, time
threading.Thread(target=lambda: (time.sleep(0.5), print("thread"))).start()
print("main")

# %% finalizers
import weakref
class C: pass
kept = C()
weakref.finalize(kept, print, "finalized")
print("end")

# %% unraisable
class C:
    def __del__(self): raise ValueError("in del")
import sys
sys.unraisablehook = lambda u: print("unraisable", u.exc_type.__name__)
c = C(); del c

# %% a hook of exceptions that fails
import sys
def hook(*a): raise KeyError("in hook")
sys.excepthook = hook
print("before")
raise ValueError("end")

# %% a group of exceptions
import sys
if sys.version_info >= (3, 11):
    try:
        raise ExceptionGroup("several", [ValueError(1), TypeError("two")])
    except ExceptionGroup as group:
        raise RuntimeError("outer") from group

# %% an error with a note
error = ValueError("x")
if hasattr(error, "add_note"): error.add_note("a note")
raise error

# %% a name that is almost there
value = 1
print(valeu)

# %% a syntax error in what is imported
import os
with open("broken_module.py", "w") as file: file.write("def f(:\n")
try:
    import broken_module
finally:
    os.remove("broken_module.py")

# %% interrupted
raise KeyboardInterrupt
