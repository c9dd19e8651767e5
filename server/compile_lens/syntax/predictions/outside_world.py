"""What leaves the program: files, time, random numbers of Python, and modules of the standard library that are not traced.

Verified on torch 2.13, each function below. Not breaks there: ``random.randint`` and ``random.uniform``, ``os.getenv``,
``os.environ`` read, ``os.path.join``, ``re``, ``functools``, ``itertools``, ``collections``, ``eval``, ``pathlib.Path(…)``,
``torch.cuda.synchronize``, ``np.random.rand`` and the
others of ``np.random`` that torch has, with a size.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Call, Enter, Use

_BUILTINS = frozenset(f"builtins.{name}" for name in ["open", "input", "exec", "compile", "globals"])
_TIME = frozenset(
    f"time.{name}"
    for name in [
        "time",
        "perf_counter",
        "monotonic",
        "time_ns",
        "perf_counter_ns",
        "monotonic_ns",
        "process_time",
        "sleep",
        "strftime",
    ]
)
_RANDOM = frozenset(f"random.{name}" for name in ["random", "choice", "choices", "shuffle", "sample", "gauss", "seed"])
_FILES = frozenset(
    [
        "os.listdir",
        "os.getpid",
        "os.stat",
        "os.remove",
        "os.makedirs",
        "os.mkdir",
        "os.path.exists",
        "os.path.isfile",
        "os.path.isdir",
        "os.environ.setdefault",
        "os.getcwd",
        "torch.save",
        "torch.load",
        "subprocess.run",
        "subprocess.Popen",
        "subprocess.check_output",
    ]
)
_SKIPPED = frozenset(
    [
        "gc.collect",
        "threading.Lock",
        "uuid.uuid4",
        "uuid.uuid1",
        "pickle.dumps",
        "pickle.loads",
        "sys.getsizeof",
        "sys.getrefcount",
        "sys.exit",
        "inspect.stack",
        "hashlib.md5",
        "hashlib.sha1",
        "hashlib.sha256",
        "torch.jit.script",
        "torch.set_num_threads",
        "torch.nn.utils.rnn.pack_padded_sequence",
    ]
)
_C_METHODS = frozenset(
    {"json.dumps", "json.loads", "datetime.datetime.now", "datetime.date.today", "datetime.datetime.utcnow"}
)
_NUMPY_RANDOM = frozenset(
    f"numpy.random.{name}"
    for name in [
        "default_rng",
        "permutation",
        "beta",
        "poisson",
        "binomial",
        "gamma",
        "exponential",
        "dirichlet",
        "multinomial",
    ]
)
# without a size these give a Python number, and that needs the value; how many arguments are not the size
_NUMPY_NUMBERS = {
    "numpy.random.random": 0,
    "numpy.random.normal": 2,
    "numpy.random.uniform": 2,
    "numpy.random.randint": 2,
}
_CONTEXTS = frozenset(
    {
        "threading.Lock",
        "builtins.open",
        "torch.random.fork_rng",
        "torch.autograd.set_detect_anomaly",
        "io.StringIO",
    }
)
_DEBUGGERS = frozenset({"pdb.set_trace", "ipdb.set_trace", "pdb.breakpoint"})

# everything that breaks by its name alone
NAMES = _BUILTINS | _TIME | _RANDOM | _FILES | _SKIPPED | _C_METHODS | _NUMPY_RANDOM | _CONTEXTS | _DEBUGGERS


def find(use: Use, setting: Setting) -> Iterator[Broken]:
    if isinstance(use, Enter):
        name = use.name or use.value.name
        if name in _CONTEXTS:
            yield Broken("context-manager", "GB0142", use.node, f"Dynamo cannot enter `{setting.short(use.node)}`")
    elif isinstance(use, Call) and use.name:
        rule, code, why = _known(use.name)
        if use.name == "numpy.random.choice":
            rule, code, why = "numpy-random", "GB0033", "needs the values that it draws from"
        elif len(use.positional) <= _NUMPY_NUMBERS.get(use.name, -1) and "size" not in use.named:
            rule, code, why = "numpy-random", "GB0033", "without a size gives a number, which needs the value"
        if rule:
            yield Broken(rule, code, use.node, f"`{use.name.removeprefix('builtins.')}` {why}")


def _known(name: str) -> tuple[str, str, str]:
    if name == "builtins.breakpoint":
        return "breakpoint", "GB0059", "stops in a debugger"
    if name in _DEBUGGERS:
        return "breakpoint", "GB0007", "stops in a debugger"
    if name in _BUILTINS:
        return "unsupported-builtin", "GB0059", "is a builtin that Dynamo cannot trace"
    if name in _TIME:
        return "time", "GB0007", "reads the clock or waits, which no graph does"
    if name in _RANDOM:
        return "python-random", "GB0007", "draws from Python's random numbers, which Dynamo does not trace"
    if name in _FILES:
        return "files-and-processes", "GB0007", "works on files or processes, which no graph does"
    if name in _SKIPPED:
        return "standard-library", "GB0007", "is a function that Dynamo skips"
    if name in _C_METHODS:
        return "standard-library", "GB0156", "is not traced"
    if name in _NUMPY_RANDOM:
        return "numpy-random", "GB0294", "has no counterpart in torch"
    if name == "numpy.random.RandomState":
        return "numpy-random", "GB0156", "is not traced"
    if name == "torch.manual_seed":
        return "random-state", "GB0007", "sets the state of the generator, which no graph does"
    if name == "torch.Generator":
        return "random-state", "GB0363", "makes an object that a graph cannot hold"
    return "", "", ""
