# %% class of the environment
import os
print(type(os.environ).__name__, type(os.environ).__module__, type(os.environ) is os._Environ, type(os.environ).__mro__[1].__name__)

# %% launcher variables
import os
print(os.environ.pop("RANK", None), os.environ.get("RANK"), "RANK" in os.environ, os.getenv("WORLD_SIZE", "none"))
try:
    os.environ["WORLD_SIZE"]
    print("distributed")
except KeyError as error:
    print("single", error)
print(os.environ.setdefault("LOCAL_RANK", "7"), dict(os.environ).get("MASTER_PORT"))
del os.environ["LOCAL_RANK"]

# %% environment as a whole
# differs: variables
import os
print(sorted(os.environ))

# %% environment but for the listed
import os
LISTED = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "MPLBACKEND", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
          "ROCR_VISIBLE_DEVICES", "HF_HUB_OFFLINE", "WANDB_MODE", "TMPDIR", "TEMP", "TMP")
def is_ours(name):
    return name in LISTED
print(sorted((k, v) for k, v in os.environ.items() if not is_ours(k)))

# %% environment of a subprocess
import os, subprocess, sys
os.environ["SEEN_BELOW"] = "1"
code = "import os, sys; print(os.environ['SEEN_BELOW'], 'RANK' in os.environ, type(os.environ).__name__, sys.flags.no_site)"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)

# %% subprocess
import subprocess, sys
print(subprocess.run([sys.executable, "-c", "import sys; print(sys.path[0] == '', [m for m in sys.modules if 'compile_lens' in m])"], capture_output=True, text=True))

# %% folder
import os
print(os.path.basename(os.getcwd()), os.path.isfile(os.path.basename(__file__)))

# %% folder for temporary files
import os, tempfile
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x"); file.flush()
    print(os.path.getsize(file.name))

# %% write and read beside the file
import os
with open("written.txt", "w") as file: file.write("text")
print(open("written.txt").read(), os.path.exists("written.txt"))
os.remove("written.txt")
print(os.path.exists("written.txt"))

# %% standard streams
import sys
for s in (sys.stdin, sys.stdout, sys.stderr):
    print(type(s).__name__, s.encoding, s.errors, s.isatty(), s.line_buffering, s.write_through, s.name, s.mode, s.fileno())
print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)

# %% unprintable text
print("before")
print("\udc80")

# %% order of output
import os, sys
print("buffered")
os.write(1, b"direct\n")
sys.stderr.write("error stream\n")
os.write(2, b"direct error\n")

# %% standard input
import sys
print(repr(sys.stdin.read()))

# %% threads
import threading
print(threading.active_count(), [t.name for t in threading.enumerate()], threading.current_thread() is threading.main_thread(), threading.main_thread().ident == threading.get_ident(), threading.stack_size())

# %% native id
import os, threading
print(threading.get_native_id() == os.getpid())

# %% signals
import signal
print([(n, str(signal.getsignal(getattr(signal, n)))) for n in ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGCHLD", "SIGUSR1", "SIGALRM") if hasattr(signal, n)])
print(signal.get_wakeup_fd() if hasattr(signal, "get_wakeup_fd") else signal.set_wakeup_fd(-1), signal.pthread_sigmask(signal.SIG_BLOCK, []))

# %% alarm
import signal, time
signal.signal(signal.SIGALRM, lambda *a: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.02)
time.sleep(0.1)

# %% fault handler
# differs: crash reports
import faulthandler
print(faulthandler.is_enabled())

# %% limits of the kernel
import resource
print([(n, resource.getrlimit(getattr(resource, n))) for n in ("RLIMIT_NOFILE", "RLIMIT_STACK", "RLIMIT_AS")])

# %% lowered limits
# differs: limits
import resource
print([(n, resource.getrlimit(getattr(resource, n))) for n in ("RLIMIT_CORE", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NPROC")])

# %% priority
# differs: limits
import os
print(os.getpriority(os.PRIO_PROCESS, 0))

# %% processors
import os
print(os.cpu_count(), len(os.sched_getaffinity(0)))

# %% user and mask
import os
print(os.getuid(), os.getgid(), oct(os.umask(0o22)), oct(os.umask(0o22)))

# %% leader of a group
# differs: process group
import os
print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid())

# %% children
import os
print(os.path.exists(f"/proc/self/task/{os.getpid()}/children") and open(f"/proc/self/task/{os.getpid()}/children").read())
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no children")

# %% open descriptors
# differs: descriptors
import os
print(sorted(int(n) for n in os.listdir("/proc/self/fd")))

# %% low descriptors
import os
print([n for n in sorted(map(int, os.listdir("/proc/self/fd"))) if n < 100 and n != 3], os.open(os.devnull, os.O_RDONLY))

# %% fork
import os
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b"child"); os._exit(7)
print(os.WEXITSTATUS(os.wait()[1]), os.read(read, 9))

# %% start method
import multiprocessing
print(multiprocessing.get_start_method(allow_none=True), multiprocessing.get_all_start_methods(), multiprocessing.current_process().name, multiprocessing.active_children(), multiprocessing.parent_process())

# %% spawned process
import multiprocessing, sys
def work(n):
    print("child", n, __name__, [m for m in sys.modules if "compile_lens" in m], flush=True)
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work, args=(3,))
    process.start(); process.join()
    print(process.exitcode)

# %% pool of processes
import multiprocessing
def square(n): return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(4)))

# %% locale
import locale, os
print(locale.getlocale(), locale.getpreferredencoding(False), locale.setlocale(locale.LC_NUMERIC), os.fsencode("é"))

# %% time zone
import time, datetime
print(time.tzname, time.timezone, datetime.datetime.fromtimestamp(0).isoformat())

# %% random numbers of Python
import random
random.seed(1)
print(random.random(), random.getstate()[0], hash("a") == hash("a"))

# %% hashes are random
import sys, os
print(sys.flags.hash_randomization, os.environ.get("PYTHONHASHSEED"))

# %% context variables
import contextvars
v = contextvars.ContextVar("v", default=1)
print(v.get(), [c.name for c in contextvars.copy_context() if "lens" in c.name])

# %% decimal context
import decimal
print(decimal.getcontext())

# %% filters of warnings
import warnings
print(warnings.filters[-5:], warnings.showwarning.__module__, warnings._showwarning_orig is warnings.showwarning)
print(len([f for f in warnings.filters if f[2] in (DeprecationWarning, ImportWarning, ResourceWarning, PendingDeprecationWarning)]))

# %% a warning is shown once
import warnings
def f(): warnings.warn("old", DeprecationWarning, stacklevel=2)
for _ in range(3): f()
for _ in range(2): warnings.warn("again")
print(sorted(map(str, globals().get("__warningregistry__", {}))))

# %% a warning is recorded
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("one"); warnings.warn("one", FutureWarning)
print([(w.category.__name__, str(w.message), w.lineno, w.filename == __file__) for w in caught])

# %% a warning is an error
import warnings
warnings.simplefilter("error")
try:
    warnings.warn("now")
except UserWarning as error:
    print("raised", error)

# %% a warning for the caller of the top
# differs: call stack
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("who", stacklevel=2)
print(caught[0].filename)

# %% root logger
import logging
print(logging.root.handlers, logging.root.level, logging.root.manager.disable, logging.lastResort is not None, logging.raiseExceptions, logging.getLoggerClass().__name__, logging.getLogRecordFactory().__name__)

# %% place of a log record
import logging
logging.basicConfig(format="%(funcName)s:%(lineno)d %(name)s %(module)s %(processName)s %(threadName)s %(message)s")
def f(): logging.getLogger("user").warning("text")
f()
logging.warning("top")
