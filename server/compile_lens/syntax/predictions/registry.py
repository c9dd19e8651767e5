"""The prediction rules, each with its measured precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from compile_lens.syntax.predictions import measured, tensor_rules, untraced_calls
from compile_lens.syntax.predictions.measurement import Measurement
from compile_lens.syntax.predictions.prediction import RuleContext, RuleMatch
from compile_lens.syntax.predictions.uses import Use

# what a rule must reach to be in the product (tests/syntax/test_prediction_rules.py)
LEAST_PRECISION = 0.9
# a precision from fewer predictions in real code says little, unless the rule is certain
LEAST_JUDGED = 3

FAMILIES: tuple[Callable[[Use, RuleContext], Iterator[RuleMatch]], ...] = (
    untraced_calls.find,
    tensor_rules.find,
)


class Rule(Struct, frozen=True):
    """A construct. ``codes`` are those that torch 2.13 gives for it. ``hints`` are what to do about it, one action each.

    ``is_certain``: the called name alone decides, whatever its arguments (tests/analysis/test_certain_predictions.py runs each name).
    """

    name: str
    codes: tuple[str, ...]
    about: str
    hints: tuple[str, ...] = ()
    is_certain: bool = False

    @property
    def measurement(self) -> Measurement:
        """Measured on the corpus."""
        return measured.MEASUREMENTS.get(self.name, Measurement())

    @property
    def right(self) -> int:
        """Predictions that broke."""
        return self.measurement.right

    @property
    def wrong(self) -> int:
        """Predictions that were executed and did not break."""
        return self.measurement.wrong

    @property
    def precision(self) -> float | None:
        """None if no prediction was judged."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None

    @property
    def is_precise(self) -> bool:
        """Whether the measurements are good enough to show what the rule predicts."""
        precision = self.precision
        is_tried = self.is_certain or self.measurement.judged_in_real_code >= LEAST_JUDGED
        return precision is not None and precision >= LEAST_PRECISION and is_tried


RULES: tuple[Rule, ...] = (
    Rule(
        "print",
        ("GB0059",),
        "`print(…)`",
        ("Remove the print, or add it to `torch._dynamo.config.reorderable_logging_functions`.",),
        is_certain=True,
    ),
    Rule(
        "logging",
        ("GB0291",),
        "a method of a logger",
        ("Log outside the compiled function, or guard the call with `if not torch.compiler.is_compiling():`.",),
        is_certain=True,
    ),
    Rule(
        "logging-module",
        ("GB4841",),
        "`logging.info(…)` and similar calls",
        ("Log outside the compiled function, or guard the call with `if not torch.compiler.is_compiling():`.",),
        is_certain=True,
    ),
    Rule(
        "warnings",
        ("GB0007",),
        "`warnings.warn(…)`",
        (
            "Warn outside the compiled function, or add `warnings.warn` to `torch._dynamo.config.reorderable_logging_functions`.",
        ),
        is_certain=True,
    ),
    Rule("standard-stream", ("GB0156",), "`sys.stdout.write(…)`, `sys.stderr.flush()`", is_certain=True),
    Rule(
        "tensor-item",
        ("GB0124", "GB0033"),
        "`x.item()`",
        (
            "Keep the value a tensor, call `.item()` outside the function, or set `torch._dynamo.config.capture_scalar_outputs = True`.",
        ),
    ),
    Rule(
        "tensor-tolist",
        ("GB0109", "GB0033"),
        "`x.tolist()`",
        ("Keep the values a tensor, or convert them outside the compiled function.",),
    ),
    Rule(
        "tensor-to-number",
        ("GB0124",),
        "`int(x)`, `float(x)`, `bool(x)` of a tensor",
        (
            "Keep the value a tensor, convert it outside the function, or set `torch._dynamo.config.capture_scalar_outputs = True`.",
        ),
    ),
    Rule(
        "tensor-branch",
        ("GB0170",),
        "`if`, `while`, `and`, `or`, `a if x else b` on a tensor",
        ("Use `torch.where` to choose between values, or `torch.cond` to choose between computations.",),
    ),
    Rule(
        "dynamic-shape",
        ("GB0036",),
        "`nonzero`, `unique`, `masked_select`, `torch.where(c)`, `bincount`",
        (
            "Use an operation with a fixed shape, or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`.",
        ),
    ),
    Rule("sequence-index", ("GB0124", "GB0070"), "`modules[i]`, `list[i]` where `i` is a tensor"),
    Rule("one-hot", ("GB0246",), "`one_hot` without `num_classes`", ("Give `num_classes`.",), is_certain=True),
    Rule("tensor-equality", ("GB0033",), "`torch.equal`, `torch.allclose`, `torch.is_nonzero`", is_certain=True),
    Rule(
        "breakpoint",
        ("GB0059", "GB0007"),
        "`breakpoint()`, `pdb.set_trace()`",
        ("Remove it, or use `torch._dynamo.comptime.breakpoint` to stop while Dynamo traces.",),
        is_certain=True,
    ),
    Rule("unsupported-builtin", ("GB0059",), "`open`, `input`, `exec`, `compile`, `globals`", is_certain=True),
    Rule(
        "time",
        ("GB0007",),
        "`time.time()` and similar calls",
        ("Measure time outside the compiled function.",),
        is_certain=True,
    ),
    Rule(
        "python-random",
        ("GB0007",),
        "`random.random()`, `random.choice(…)`",
        ("Use torch's random functions, such as `torch.rand`.",),
        is_certain=True,
    ),
    Rule("files-and-processes", ("GB0007",), "`os.listdir`, `torch.save`, `subprocess.run`", is_certain=True),
    Rule(
        "standard-library",
        ("GB0007", "GB0156"),
        "`gc`, `uuid`, `pickle`, `json`, `datetime`, `hashlib`",
        is_certain=True,
    ),
    Rule(
        "numpy-random",
        ("GB0294", "GB0156", "GB0033"),
        "`np.random.default_rng`, `np.random.beta`, `np.random.choice` without a size",
        ("Use torch's random functions, such as `torch.rand`.",),
        is_certain=True,
    ),
    Rule("random-state", ("GB0007", "GB0363"), "`torch.manual_seed`, `torch.Generator`", is_certain=True),
    Rule("context-manager", ("GB0142",), "`with` on a lock, a file, `fork_rng`", is_certain=True),
    Rule(
        "backward",
        ("GB0123",),
        "`x.backward()`",
        ("Call `backward` outside the compiled function.",),
        is_certain=True,
    ),
    Rule("requires-grad-attribute", ("GB0206",), "`x.requires_grad = …`", ("Set it outside the compiled function.",)),
    Rule("tensor-resize", ("GB0148",), "`x.resize_(…)`, `x.set_(…)`"),
    Rule("autograd-grad", ("GB9186",), "`torch.autograd.grad(…)`", is_certain=True),
    Rule("explicit-break", ("GB0025",), "`torch._dynamo.graph_break()`", is_certain=True),
    Rule("disabled-call", ("GB0098",), "a call of a function marked with `torch.compiler.disable`", is_certain=True),
)

BY_NAME = {rule.name: rule for rule in RULES}
ALL = frozenset(BY_NAME)


def chosen(switched: Mapping[str, bool]) -> frozenset[str]:
    """All rules but those that ``switched`` turns off."""
    return ALL - {name for name, is_on in switched.items() if not is_on}
