"""The rules, and which are on: those whose precision on the corpus is high enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from compile_lens.syntax.predictions import (
    branching,
    conversions,
    dynamic_shapes,
    explicit,
    measured,
    outside_world,
    printing,
    tensor_state,
)
from compile_lens.syntax.predictions.figures import Figures
from compile_lens.syntax.predictions.prediction import Broken
from compile_lens.syntax.predictions.setting import Setting
from compile_lens.syntax.predictions.uses import Use

LEAST_PRECISION = 0.9
# a precision of fewer predictions than these says little
LEAST_JUDGED = 3

FAMILIES: tuple[Callable[[Use, Setting], Iterator[Broken]], ...] = (
    printing.find,
    conversions.find,
    branching.find,
    dynamic_shapes.find,
    outside_world.find,
    tensor_state.find,
    explicit.find,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A construct. ``codes`` are those that torch 2.13 gives for it. ``hints`` are what to do about it, one action each.

    ``is_certain``: what is called decides alone, whatever it is given (tests/analysis/test_certain_predictions.py runs each name).
    """

    name: str
    codes: tuple[str, ...]
    about: str
    hints: tuple[str, ...] = ()
    is_certain: bool = False

    @property
    def figures(self) -> Figures:
        """Measured on the corpus."""
        return measured.FIGURES.get(self.name, Figures())

    @property
    def right(self) -> int:
        """Predictions that broke."""
        return self.figures.right

    @property
    def wrong(self) -> int:
        """Predictions that were executed and did not."""
        return self.figures.wrong

    @property
    def precision(self) -> float | None:
        """None while nothing was judged."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None

    @property
    def is_on(self) -> bool:
        precision = self.precision
        is_tried = self.is_certain or self.figures.judged_in_real_code >= LEAST_JUDGED
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
        ("Log outside of the compiled function, or guard the call with `if not torch.compiler.is_compiling():`.",),
        is_certain=True,
    ),
    Rule(
        "logging-module",
        ("GB4841",),
        "`logging.info(…)` and its like",
        ("Log outside of the compiled function, or guard the call with `if not torch.compiler.is_compiling():`.",),
        is_certain=True,
    ),
    Rule(
        "warnings",
        ("GB0007",),
        "`warnings.warn(…)`",
        (
            "Warn outside of the compiled function, or add `warnings.warn` to `torch._dynamo.config.reorderable_logging_functions`.",
        ),
        is_certain=True,
    ),
    Rule("standard-stream", ("GB0156",), "`sys.stdout.write(…)`, `sys.stderr.flush()`", is_certain=True),
    Rule(
        "tensor-item",
        ("GB0124", "GB0033"),
        "`x.item()`",
        (
            "Keep the value a tensor, call `.item()` outside, or set `torch._dynamo.config.capture_scalar_outputs = True`.",
        ),
    ),
    Rule(
        "tensor-tolist",
        ("GB0109", "GB0033"),
        "`x.tolist()`",
        ("Keep the values a tensor, or convert them outside of the compiled function.",),
    ),
    Rule(
        "tensor-to-number",
        ("GB0124",),
        "`int(x)`, `float(x)`, `bool(x)` of a tensor",
        ("Keep the value a tensor, convert it outside, or set `torch._dynamo.config.capture_scalar_outputs = True`.",),
    ),
    Rule(
        "math-of-tensor",
        ("GB0033",),
        "`math.sqrt(x)` and its like of a tensor",
        ("Use the function of torch, such as `torch.sqrt`.",),
    ),
    Rule("tensor-to-complex", ("GB0059",), "`complex(x)` of a tensor"),
    Rule("tensor-to-text", ("GB0059", "GB0208", "GB0569"), "`str(x)`, `repr(x)`, `'%s' % x` of a tensor"),
    Rule(
        "tensor-branch",
        ("GB0170",),
        "`if`, `while`, `and`, `or`, `a if x else b` on a tensor",
        ("Use `torch.where` to choose between values, or `torch.cond` to choose between computations.",),
    ),
    Rule(
        "tensor-assert",
        ("GB0170",),
        "`assert` of a tensor with a message that is made",
        ("Give the assertion a plain string as its message, or none.",),
    ),
    Rule("tensor-not", ("GB0033",), "`not x` of a tensor as a value"),
    Rule(
        "tensor-any-all",
        ("GB0170",),
        "Python's `any(…)` and `all(…)` over tensors",
        ("Use `.any()` or `.all()` of a tensor, and `torch.where` for what follows.",),
    ),
    Rule(
        "dynamic-shape",
        ("GB0036",),
        "`nonzero`, `unique`, `masked_select`, `torch.where(c)`, `bincount`",
        (
            "Use an operation with a fixed shape, or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`.",
        ),
    ),
    Rule(
        "boolean-mask",
        ("GB0036",),
        "`x[mask]`, read",
        (
            "Use `torch.where` or multiply by the mask, or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`.",
        ),
    ),
    Rule(
        "repeat-interleave",
        ("GB0036",),
        "`repeat_interleave` by a tensor",
        ("Give `output_size`, or set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`.",),
    ),
    Rule("tensor-slice", ("GB0124",), "`x[:n]` where `n` is a tensor"),
    Rule("tensor-index", ("GB0033",), "`x[i]` where `i` is a tensor without dimensions"),
    Rule("sequence-index", ("GB0124", "GB0070"), "`modules[i]`, `list[i]` where `i` is a tensor"),
    Rule("tensor-as-size", ("GB0033",), "a size that is a tensor: `torch.zeros(n)`, `x.view(n)`"),
    Rule("range-of-tensor", ("GB0059",), "`range(n)` where `n` is a tensor"),
    Rule("one-hot", ("GB0246",), "`one_hot` without `num_classes`", ("Give `num_classes`.",), is_certain=True),
    Rule("tensor-equality", ("GB0033",), "`torch.equal`, `torch.allclose`, `torch.is_nonzero`", is_certain=True),
    Rule("sort-by-tensor", ("GB0207",), "`sorted` of tensors"),
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
        "`time.time()` and its like",
        ("Measure time outside of the compiled function.",),
        is_certain=True,
    ),
    Rule(
        "python-random",
        ("GB0007",),
        "`random.random()`, `random.choice(…)`",
        ("Use torch's random numbers, such as `torch.rand`.",),
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
        ("Use torch's random numbers, such as `torch.rand`.",),
        is_certain=True,
    ),
    Rule("random-state", ("GB0007", "GB0363"), "`torch.manual_seed`, `torch.Generator`", is_certain=True),
    Rule("context-manager", ("GB0142",), "`with` a lock, a file, `fork_rng`", is_certain=True),
    Rule(
        "backward",
        ("GB0123",),
        "`x.backward()`",
        ("Call `backward` outside of the compiled function.",),
        is_certain=True,
    ),
    Rule("requires-grad", ("GB0125", "GB8985"), "`x.requires_grad_()`"),
    Rule(
        "requires-grad-attribute", ("GB0206",), "`x.requires_grad = …`", ("Set it outside of the compiled function.",)
    ),
    Rule("retain-grad", ("GB0108",), "`x.retain_grad()`"),
    Rule("tensor-resize", ("GB0148",), "`x.resize_(…)`, `x.set_(…)`"),
    Rule("is-inference", ("GB0045",), "`x.is_inference()`"),
    Rule("sparse-tensor", ("GB0277",), "`x.to_sparse()`"),
    Rule("storage-offset", ("GB0208",), "`x.storage_offset()`"),
    Rule("autograd-grad", ("GB9186",), "`torch.autograd.grad(…)`", is_certain=True),
    Rule("deepcopy", ("GB4198",), "`copy.deepcopy` of a tensor, or of what holds one", ("Use `clone`.",)),
    Rule("copy", ("GB0208",), "`copy.copy` of a tensor", ("Use `clone`.",)),
    Rule("explicit-break", ("GB0025",), "`torch._dynamo.graph_break()`", is_certain=True),
    Rule("disabled-call", ("GB0098",), "a call of what `torch.compiler.disable` marks", is_certain=True),
)

BY_NAME = {rule.name: rule for rule in RULES}
ALL = frozenset(BY_NAME)
ON = frozenset(rule.name for rule in RULES if rule.is_on)


def chosen(switched: Mapping[str, bool]) -> frozenset[str]:
    """The rules that are on, with those of ``switched`` turned on or off."""
    wanted = {name for name, is_on in switched.items() if is_on and name in ALL}
    return (ON | wanted) - {name for name, is_on in switched.items() if not is_on}
