"""Rules for calls that Dynamo does not trace: printing, logging, files, time, Python's random numbers, parts of the standard library,
and what the program itself excludes (``graph_break()``, ``torch.compiler.disable``).

Verified on torch 2.13, each function below. Not breaks there: ``random.randint`` and ``random.uniform``, ``os.getenv``, reading
``os.environ``, ``os.path.join``, ``re``, ``functools``, ``itertools``, ``collections``, ``eval``, ``pathlib.Path(…)``,
``torch.cuda.synchronize``, ``np.random.rand`` and other functions of ``np.random`` that torch has, if given a size, and a function in
``reorderable_logging_functions``.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.results import LOGGER
from compile_lens.syntax.predictions.uses import CallUse, Enter, Use

_LOGGING = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log", "warning_once"})
_STREAMS = ("sys.stdout.", "sys.stderr.")
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
# without a size these return a Python number, which needs the value; how many arguments come before the size
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

# everything that breaks because of its name alone
NAMES = _BUILTINS | _TIME | _RANDOM | _FILES | _SKIPPED | _C_METHODS | _NUMPY_RANDOM | _CONTEXTS | _DEBUGGERS


def find(use: Use, context: RuleContext) -> Iterator[RuleMatch]:
    if isinstance(use, Enter):
        name = use.name or use.value.name
        if name in _CONTEXTS:
            sentence = f"Dynamo cannot enter the context manager `{context.short(use.node)}`"
            yield RuleMatch("context-manager", "GB0142", use.node, sentence)
    elif isinstance(use, CallUse):
        yield from _printed(use, context)
        yield from _excluded(use, context)
        if use.name:
            yield from _named(use)


def _printed(use: CallUse, context: RuleContext) -> Iterator[RuleMatch]:
    function = use.node.child_by_field_name("function")
    written = "".join(context.text(function).split()) if function is not None else ""
    silenced = context.switches.silenced
    if written in silenced or f"logging.Logger.{use.method}" in silenced:
        return
    if use.name == "builtins.print":
        yield RuleMatch("print", "GB0059", use.node, "Dynamo does not trace `print`")
    elif use.receiver == LOGGER and use.method in _LOGGING:
        yield RuleMatch("logging", "GB0291", use.node, "Dynamo does not trace the methods of a logger")
    elif use.name.startswith("logging.") and use.method in _LOGGING and use.receiver != LOGGER:
        yield RuleMatch("logging-module", "GB4841", use.node, f"Dynamo does not trace `{written}`")
    elif use.name in ("warnings.warn", "warnings.warn_explicit"):
        yield RuleMatch("warnings", "GB0007", use.node, "Dynamo skips `warnings.warn`")
    elif use.name.startswith(_STREAMS):
        yield RuleMatch("standard-stream", "GB0156", use.node, f"Dynamo does not trace `{written}`")


def _excluded(use: CallUse, context: RuleContext) -> Iterator[RuleMatch]:
    if use.name == "torch._dynamo.graph_break":
        yield RuleMatch("explicit-break", "GB0025", use.node, "the program calls `torch._dynamo.graph_break()`")
    elif use.is_disabled:
        function = use.node.child_by_field_name("function")
        named = f"`{context.short(function)}`" if function is not None else "the function"
        yield RuleMatch("disabled-call", "GB0098", use.node, f"{named} is marked with `torch.compiler.disable`")


def _named(use: CallUse) -> Iterator[RuleMatch]:
    rule, code, why = _known(use.name)
    if use.name == "numpy.random.choice":
        rule, code, why = "numpy-random", "GB0033", "needs the values that it draws from"
    elif len(use.positional) <= _NUMPY_NUMBERS.get(use.name, -1) and "size" not in use.named:
        rule, code, why = "numpy-random", "GB0033", "without a size returns a number, which needs the value"
    if rule:
        yield RuleMatch(rule, code, use.node, f"`{use.name.removeprefix('builtins.')}` {why}")


def _known(name: str) -> tuple[str, str, str]:
    if name == "builtins.breakpoint":
        return "breakpoint", "GB0059", "stops in a debugger"
    if name in _DEBUGGERS:
        return "breakpoint", "GB0007", "stops in a debugger"
    if name in _BUILTINS:
        return "unsupported-builtin", "GB0059", "is a builtin that Dynamo cannot trace"
    if name in _TIME:
        return "time", "GB0007", "reads the clock or sleeps, which a graph cannot do"
    if name in _RANDOM:
        return "python-random", "GB0007", "uses Python's random numbers, which Dynamo does not trace"
    if name in _FILES:
        return "files-and-processes", "GB0007", "uses files or processes, which a graph cannot do"
    if name in _SKIPPED:
        return "standard-library", "GB0007", "is skipped by Dynamo"
    if name in _C_METHODS:
        return "standard-library", "GB0156", "is not traced by Dynamo"
    if name in _NUMPY_RANDOM:
        return "numpy-random", "GB0294", "has no equivalent in torch"
    if name == "numpy.random.RandomState":
        return "numpy-random", "GB0156", "is not traced by Dynamo"
    if name == "torch.manual_seed":
        return "random-state", "GB0007", "sets the state of the random generator, which a graph cannot do"
    if name == "torch.Generator":
        return "random-state", "GB0363", "creates an object that a graph cannot contain"
    return "", "", ""
