"""Programs with a bug that they plant in the compiler themselves, repros of it, and the verdict that is right for it.

A repro is what differs from ``planted/relu_accuracy.py``: its head, and whether the compiled run is meant to raise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SAMPLE = Path(__file__).with_name("planted") / "relu_accuracy.py"
JUDGED = "# ---------------------------------------------------------------- how it is judged"
RAISES_ELSEWHERE = 'return CANNOT_JUDGE, f"another problem: the compiled run raises'
RAISES = 'return BAD, f"the compiled run raises'

HEAD = """# A repro for torch.compile: {title}
#
# criterion: {criterion}
# kind: source
import contextlib
import os
import sys
from pathlib import Path

import torch
import torch._dynamo
import torch._inductor.config

{body}

COMPILE_OPTIONS = {{}}
BACKWARD = False


def make_target():
    return fn


def make_calls():
    torch.manual_seed(0)
    return [((torch.rand(64, 64) + 0.5,), {{}})]


"""

PROGRAM = """import os

import torch
import torch._dynamo
import torch._inductor.config

{body}


torch.manual_seed(0)
compiled = torch.compile(fn)
compiled(torch.rand(64, 64) + 0.5)
"""


@dataclass(frozen=True, slots=True)
class Bug:
    """``verdict`` is backend, subsystem, and what must be in the debug info. ``line`` is in the function that is compiled.

    ``code`` is that of the finding that a run of the program has, '' for none.
    """

    title: str
    body: str
    verdict: tuple[str, str | None, str | None]
    raises: bool = False
    line: str | None = None
    code: str = "wrong-numbers"

    def program(self) -> str:
        """The program of a user who meets the bug."""
        return PROGRAM.format(body=self.body.strip())

    def text(self) -> str:
        """The repro."""
        judged = SAMPLE.read_text().partition(JUDGED)[2]
        assert RAISES_ELSEWHERE in judged, SAMPLE
        if self.raises:
            judged = judged.replace(RAISES_ELSEWHERE, RAISES)
        criterion = "raises" if self.raises else "differs"
        return HEAD.format(title=self.title, criterion=criterion, body=self.body.strip()) + JUDGED + judged


RELU = "return torch.relu(x.sin() - 0.5).sum()"
LOG1P = "return torch.log1p(x.exp()).sum()"


LOWERINGS = ("inductor", "lowerings")
LINES = {"relu": RELU, "log1p": LOG1P}


def _injected(title: str, operator: str, kind: str, code: str) -> Bug:
    """One of the bugs that torch can inject into the code that Inductor writes for a CPU."""
    body = f"""
torch._inductor.config.cpp.inject_{operator}_bug_TESTING_ONLY = "{kind}"


def fn(x):
    {LINES[operator]}
"""
    raises = kind != "accuracy"
    return Bug(title, body, (*LOWERINGS, operator), raises=raises, line=LINES[operator], code=code)


LOWERING = """
from torch._inductor import lowering

right = lowering.lowerings[torch.ops.aten.tanh.default]


def wrong_tanh(x):
    return lowering.add(right(x), 0.125)


lowering.lowerings[torch.ops.aten.tanh.default] = wrong_tanh


def fn(x):
    return torch.cos(x.tanh() * 2)
"""

DECOMPOSITION = """
from torch._inductor import decomposition


def wrong_addcmul(self, tensor1, tensor2, *, value=1):
    return self + tensor1 * tensor2 * value + 0.125


decomposition.decompositions[torch.ops.aten.addcmul.default] = wrong_addcmul


def fn(x):
    return torch.addcmul(x.sin(), x, x)
"""

PASS = """
def sine_to_cosine(graph):
    for node in graph.nodes:
        if node.op == "call_function" and node.target in ({sines}):
            node.target = {cosine}


torch._inductor.config.{option} = sine_to_cosine


def fn(x):
    return (x.exp() + x.sin()) * 2
"""
ATEN = {"sines": "torch.ops.aten.sin.default,", "cosine": "torch.ops.aten.cos.default"}

PRE_GRAD = """
def sine_to_cosine(graph):
    for node in graph.nodes:
        if node.op == "call_method" and node.target == "sin":
            node.target = "cos"


torch._inductor.config.pre_grad_custom_pass = sine_to_cosine


def fn(x):
    return (x.exp() + x.sin()) * 2
"""

RANDOM = """
def fn(x):
    return x + torch.rand(64, 64)
"""

# any use of the scheduler with fusion on is wrong: no part that torch can switch off is to blame
FUSION = """
from torch._inductor import scheduler

original = scheduler.Scheduler.fuse_nodes


def fuse_nodes(self, nodes):
    if torch._inductor.config.max_fusion_size > 1:
        raise AssertionError("planted: this kernel cannot be fused")
    return original(self, nodes)


scheduler.Scheduler.fuse_nodes = fuse_nodes


def fn(x):
    return torch.relu(x.sin())
"""

CRASH = """
import signal

from torch._inductor import lowering


def crash(x):
    os.kill(os.getpid(), signal.SIGSEGV)


lowering.lowerings[torch.ops.aten.erf.default] = crash


def fn(x):
    return x.sin().erf() + 1
"""

DYNAMO = """
from torch._dynamo.variables.builtin import BuiltinVariable

original = BuiltinVariable.call_function


def call_function(self, tx, args, kwargs):
    if self.fn is divmod:
        raise AssertionError("planted: Dynamo cannot do this")
    return original(self, tx, args, kwargs)


BuiltinVariable.call_function = call_function


def fn(x):
    whole, rest = divmod(7, 2)
    return x * whole + rest
"""

CSE = """
from torch._functorch import partitioners

right = partitioners.fx_graph_cse
weight = torch.ones(64, requires_grad=True)


def wrong_cse(graph):
    made = right(graph)
    for node in made.nodes:
        if node.target is torch.ops.aten.sin.default:
            node.target = torch.ops.aten.cos.default
    return made


partitioners.fx_graph_cse = wrong_cse


def fn(x):
    return (x * weight).sin()
"""

CROSSREF = """
@torch.library.custom_op("planted::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous().t()


@turned.register_fake
def _(x):
    return torch.empty_like(x)


def fn(x):
    return turned(x.sin()) + 1
"""

BUGS = {
    "relu-accuracy": _injected("relu is wrong", "relu", "accuracy", "wrong-numbers"),
    "relu-compile-error": _injected("relu does not compile", "relu", "compile_error", "cpp-compile-error"),
    "relu-runtime-error": _injected("relu fails when it runs", "relu", "runtime_error", "crash"),
    "log1p-accuracy": _injected("log1p is wrong", "log1p", "accuracy", "wrong-numbers"),
    "log1p-compile-error": _injected("log1p does not compile", "log1p", "compile_error", "inductor-error"),
    "log1p-runtime-error": _injected("log1p fails when it runs", "log1p", "runtime_error", "inductor-error"),
    "lowering": Bug("tanh is lowered wrongly", LOWERING, (*LOWERINGS, "tanh"), line="return torch.cos(x.tanh() * 2)"),
    "decomposition": Bug(
        "addcmul is decomposed wrongly",
        DECOMPOSITION,
        ("aot_eager_decomp_partition", "decomposition", "addcmul"),
        line="return torch.addcmul(x.sin(), x, x)",
    ),
    "pre-grad-pass": Bug(
        "a pre-grad pass is wrong",
        PRE_GRAD,
        ("inductor", "pre_grad_passes", "pre_grad_custom_pass"),
        line="return (x.exp() + x.sin()) * 2",
    ),
    "joint-pass": Bug(
        "a joint-graph pass is wrong",
        PASS.format(option="joint_custom_post_pass", **ATEN),
        ("inductor", "joint_graph_passes", "joint_custom_post_pass"),
        line="return (x.exp() + x.sin()) * 2",
    ),
    "post-grad-pass": Bug(
        "a post-grad pass is wrong",
        PASS.format(option="post_grad_custom_post_pass", **ATEN),
        ("inductor", "post_grad_passes", "post_grad_custom_post_pass"),
        line="return (x.exp() + x.sin()) * 2",
    ),
    "random": Bug("random numbers differ", RANDOM, ("inductor", "inductor_fallback_random", None), code=""),
    "fusion": Bug("fused kernels fail", FUSION, ("inductor", None, None), raises=True, code="inductor-error"),
    "crash": Bug("the compiler crashes", CRASH, (*LOWERINGS, "erf"), line="return x.sin().erf() + 1", code="crash"),
    "dynamo": Bug("Dynamo fails", DYNAMO, ("eager", None, None), raises=True, code="dynamo-internal-error"),
}

# faults before Inductor, which torch's own search names no part of
EARLY = {
    "cse": Bug("common subexpressions are wrong", CSE, ("aot_eager", None, None)),
    "crossref": Bug(
        "a fake kernel has other strides",
        CROSSREF,
        ("aot_eager_decomp_partition_crossref", None, None),
        raises=True,
    ),
}
