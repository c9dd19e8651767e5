"""Differences between versions of torch and Python that were looked at: each row says what comes out otherwise there, and why."""

from __future__ import annotations

from dataclasses import dataclass

from tests.compat.environments import numbers
from tests.compat.results import Deviation, Result

Version = tuple[int, ...]
OLDEST, ANY = (2, 6), (9, 9)


@dataclass(frozen=True, slots=True)
class Difference:
    """From torch ``since`` up to and including ``until`` (on a Python up to ``python_until``), ``program`` comes out otherwise.

    ``lacks`` and ``has`` are those of the ``Deviation``. ``why`` is a sentence for the page.
    """

    program: str
    why: str
    lacks: str = ""
    has: str = ""
    since: Version = OLDEST
    until: Version = ANY
    python_until: Version = ANY

    def explains(self, result: Result, deviation: Deviation) -> bool:
        """Whether this is what came out otherwise there."""
        torch, python = numbers(result.torch), numbers(result.python)
        applies = self.since <= torch <= self.until and python <= self.python_until
        return applies and (self.program, self.lacks, self.has) == (deviation.program, deviation.lacks, deviation.has)


def explanation(result: Result, deviation: Deviation) -> Difference | None:
    """The row for it, or None: nobody has looked at it."""
    return next((row for row in DIFFERENCES if row.explains(result, deviation)), None)


def unexplained(result: Result) -> list[Deviation]:
    """What came out otherwise there, and no row says why."""
    return [each for check in result.checks for each in check.deviations if explanation(result, each) is None]


CODE = "Has another code for the same break."
DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "break_in_package",
        "Dynamo does not trace the library's `render`: a second break.",
        has="10 graph-break",
        until=(2, 8),
    ),
    Difference(
        "break_in_package",
        "Dynamo does not trace the library's `render`: a second break.",
        has="10 GB0007",
        since=(2, 9),
        until=(2, 12),
    ),
    Difference(
        "break_in_with",
        "A context manager with a break is not inlined: the break is at its call.",
        lacks="9 graph-break",
        has="24 graph-break",
        until=(2, 8),
    ),
    Difference(
        "break_deepcopy",
        "Has another code for the same break.",
        lacks="10 GB4198",
        has="10 GB0179",
        since=(2, 9),
        until=(2, 11),
    ),
    Difference(
        "break_deepcopy",
        "Has another code for the same break.",
        lacks="10 GB4198",
        has="10 GB0141",
        since=(2, 12),
        until=(2, 12),
    ),
    Difference(
        "break_generator",
        "Has another code for the same break.",
        lacks="18 GB4347",
        has="18 GB0253",
        since=(2, 9),
        until=(2, 12),
    ),
    Difference(
        "break_generator",
        "`next` of a generator that was made outside is traced.",
        lacks="18 GB4347, 18 recompile",
        since=(2, 14),
    ),
    Difference(
        "break_numpy",
        "Has another code for the same break.",
        lacks="9 GB0156",
        has="9 GB0007",
        since=(2, 9),
        until=(2, 12),
    ),
    Difference(
        "break_stdlib",
        "`random.random` is traced, and the functions of `time` have a code of their own.",
        lacks="13 GB0007, 14 GB0007, 17 GB0007",
        has="13 GB9193, 17 GB9193",
        since=(2, 15),
    ),
    Difference("break_stdlib", "`random.random` is traced.", lacks="14 GB0007", since=(2, 14), until=(2, 14)),
    Difference(
        "break_while",
        "A function that is skipped because of its loop is not tried again from the condition.",
        lacks="7 GB0170",
        since=(2, 15),
    ),
    Difference(
        "clean_nested",
        "`compile()` of a module of torch compiles it.",
        lacks="27 not-compiled x2, 30 not-compiled",
        has="28 recompile",
        since=(2, 14),
    ),
    Difference(
        "error_async",
        "Coroutines are skipped without a record.",
        lacks="10 graph-break",
        has="7 not-compiled",
        until=(2, 8),
    ),
    Difference(
        "error_in_cond",
        "An error in a branch of `torch.cond` has the stack of the call of `torch.cond`.",
        lacks="6 higher-order-op-error",
        has="12 higher-order-op-error",
        until=(2, 8),
    ),
    Difference(
        "error_lowering",
        "The error of a lowering does not say which line of the program was lowered.",
        lacks="34 lowering-error, 39 fallback-op, 39 lowering-error, 44 lowering-error",
        has="32 lowering-error, 8 lowering-error x2",
        until=(2, 8),
    ),
    Difference(
        "error_unknown_backend",
        "Python 3.10 counts the call of a decorator to the line of `def`.",
        lacks="5 backend-error",
        has="6 backend-error",
        python_until=(3, 10),
    ),
    Difference(
        "numbers_right",
        "AOTAutograd's cache stores a graph with `autocast`.",
        lacks="13 cache-bypass",
        until=(2, 11),
    ),
    Difference(
        "numbers_right",
        "AOTAutograd's cache stores a graph with `autocast`.",
        lacks="13 cache-bypass",
        since=(2, 14),
    ),
    Difference(
        "recompile_counter",
        "Side effects are not recorded.",
        lacks="11 side-effect x3",
        until=(2, 10),
    ),
    Difference(
        "recompile_resume",
        "The guard does not say where the value is read: the recompile is at the line that sets it.",
        lacks="9 recompile",
        has="7 recompile",
        until=(2, 8),
    ),
    Difference(
        "recompile_resume",
        "The length of a string is traced without a guard on the string, so that only the part behind the break recompiles.",
        lacks="6 recompile x2, 8 GB0059 x2",
        since=(2, 15),
    ),
    Difference(
        "recurrent",
        "Each call of an LSTM or GRU is a break that can be resumed, on the CPU, too. Before, it made the function fall back to eager.",
        lacks="14 GB0014",
        has="13 recompile, 14 GB0148, 14 recompile, 15 GB0148, 15 recompile",
        since=(2, 15),
    ),
    Difference(
        "varied_inputs",
        "Side effects are not recorded.",
        lacks="22 side-effect",
        until=(2, 10),
    ),
    Difference("as_json", CODE, lacks="3 GB0156", has="3 GB0007", until=(2, 12)),
    Difference("by_default", "A changed default value is not noticed.", lacks="2 recompile", until=(2, 11)),
    Difference(
        "by_module_apply",
        "`compile()` of a module of torch compiles it.",
        lacks="3 not-compiled x2",
        has="4 recompile",
        since=(2, 14),
    ),
    Difference("by_range", CODE, lacks="3 GB4841", has="3 GB0160", until=(2, 12)),
    Difference("caught_inside", "`super().__init__` of an exception is traced.", lacks="3 GB0006", since=(2, 15)),
    Difference("chosen_by_value", CODE, lacks="9 GB0124", has="9 GB0218", until=(2, 11)),
    Difference("evaluated", "`eval` is not traced.", has="3 GB0059", until=(2, 12)),
    Difference(
        "formatted",
        "An unknown name raises `NameError`, and the break is where that is handled.",
        lacks="4 GB0354",
        has="6 GB9625",
        since=(2, 14),
    ),
    Difference("formatted_value", CODE, lacks="4 GB0088", has="4 GB0156", until=(2, 11)),
    Difference("identity", "`hash` of a string is not traced.", has="6 GB0059", until=(2, 12)),
    Difference("indexed_list", CODE, lacks="3 GB0124", has="3 GB0070", until=(2, 11)),
    Difference("named_fields", "`copy.copy` of a named tuple is traced.", lacks="9 GB0088", since=(2, 14)),
    Difference(
        "named_fields",
        "Dynamo fails on a named tuple of another length, which ends the program.",
        lacks="9 GB0088",
        has="9 GB0007, 9 run-error",
        until=(2, 11),
    ),
    Difference("pointer", CODE, lacks="3 GB5976", has="3 GB0023", until=(2, 12)),
    Difference("read_locals", "`locals` is not traced.", has="3 GB0059", until=(2, 11)),
    Difference("regular_expression", "Regular expressions are not traced.", has="3 GB0023, 4 GB0156", until=(2, 11)),
    Difference(
        "regular_expression",
        "Regular expressions are not traced.",
        has="3 GB0059, 4 GB0156",
        since=(2, 12),
        until=(2, 12),
    ),
    Difference("saved", CODE, lacks="4 GB0156", has="4 GB0007", until=(2, 12)),
    Difference("shuffled", "`random.shuffle` is traced.", lacks="4 GB0007", has="4 side-effect", since=(2, 14)),
    Difference(
        "stamped",
        "Dynamo fails on `datetime.now`, which ends the program.",
        lacks="3 GB0156, 4 GB0007",
        has="2 dynamo-internal-error, 3 GB0007",
        until=(2, 11),
    ),
    Difference("stamped", CODE, lacks="3 GB0156", has="3 GB0007", since=(2, 12), until=(2, 12)),
    Difference("state_in_forward", "`state_dict` is not traced.", has="7 GB0059", until=(2, 12)),
    Difference("state_in_forward", "`state_dict` is not traced.", has="7 GB0467", since=(2, 14)),
    Difference(
        "several_modules_of_torch",
        "`requires_grad` of a parameter of a module of torch is not guarded.",
        lacks="7 recompile",
        until=(2, 11),
    ),
    Difference(
        "uncaught_shapes",
        "An error of an operation is raised as the program's own: Dynamo breaks there, and the program raises it.",
        lacks="2 fake-tensor-error/GB4315",
        has="2 GB0088 x2, 2 run-error",
        since=(2, 15),
    ),
    Difference(
        "while_on_value",
        "A function that is skipped because of its loop is not tried again from the condition.",
        lacks="4 GB0170",
        since=(2, 15),
    ),
    Difference(
        "break_skips_rest",
        "torch names neither a break in a `try` block, which ends tracing, nor its line: it is told at the function.",
        lacks="12 graph-break",
        has="5 graph-break",
        until=(2, 8),
    ),
    Difference(
        "error_limit_on_graph_break",
        "`torch._dynamo.error_on_graph_break` does not exist.",
        lacks="9 recompile, 9 recompile-limit",
        has="7 run-error",
        until=(2, 8),
    ),
    Difference(
        "error_on_graph_break",
        "`torch._dynamo.error_on_graph_break` does not exist.",
        lacks="9 fullgraph-break",
        has="7 graph-break, 7 run-error",
        until=(2, 8),
    ),
    Difference(
        "synchronisation",
        "AOTAutograd fails on a captured float (`KeyError: zuf0`), in a plain run, too.",
        has="8 aot-error",
        until=(2, 8),
    ),
    Difference("bounded_queue", "A `deque` with `maxlen` is not traced.", has="3 graph-break", until=(2, 8)),
    Difference(
        "by_bound_method",
        "The guard does not say where the value is read: the recompile is at the argument.",
        lacks="6 recompile",
        has="10 recompile",
        until=(2, 8),
    ),
    Difference(
        "by_default",
        "The guard does not say where the value is read: the recompile is at the function that is compiled.",
        lacks="2 recompile",
        has="7 recompile",
        until=(2, 8),
    ),
    Difference("by_range_iterator", "Side effects are not recorded.", lacks="3 side-effect x2", until=(2, 8)),
    Difference(
        "cond_that_prints",
        "An error in a branch of `torch.cond` has the stack of the call of `torch.cond`.",
        lacks="2 higher-order-op-error",
        has="8 higher-order-op-error",
        until=(2, 8),
    ),
    Difference(
        "context_of_the_program",
        "A context manager with a break is not inlined: the break is at its call.",
        lacks="3 graph-break",
        has="10 graph-break",
        until=(2, 8),
    ),
    Difference("counter_in_forward", "Side effects are not recorded.", lacks="8 side-effect x2", until=(2, 8)),
    Difference("evaluated", "`eval` is not traced.", has="3 graph-break", until=(2, 8)),
    Difference("hooked", "A hook on an intermediate needs compiled autograd.", has="4 graph-break", until=(2, 8)),
    Difference("identity", "`hash` of a string is not traced.", has="6 graph-break", until=(2, 8)),
    Difference(
        "matched",
        "A `match` statement is not traced on Python 3.10.",
        lacks="7 recompile",
        has="9 graph-break",
        until=(2, 8),
        python_until=(3, 10),
    ),
    Difference(
        "named_fields",
        "`_replace` of a named tuple is not traced.",
        lacks="9 graph-break",
        has="8 graph-break x2",
        until=(2, 8),
    ),
    Difference("numbers_of_python", "The line breaks twice.", has="4 graph-break", until=(2, 8)),
    Difference("read_locals", "`locals` is not traced.", has="3 graph-break", until=(2, 8)),
    Difference(
        "regular_expression", "Regular expressions are not traced.", has="3 graph-break, 4 graph-break", until=(2, 8)
    ),
    Difference(
        "stamped",
        "A guard on `datetime.datetime.now` fails at once, in a plain run, too.",
        lacks="4 graph-break",
        has="2 dynamo-internal-error",
        until=(2, 8),
    ),
    Difference("state_in_forward", "`state_dict` is not traced.", has="7 graph-break", until=(2, 8)),
    Difference("suppressed_inside", "`contextlib.suppress` is not traced.", has="3 graph-break x2", until=(2, 8)),
    Difference("to_list", "`tolist()` does not break.", lacks="3 graph-break", until=(2, 8)),
)
