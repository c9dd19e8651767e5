"""Programs with a finding that has a hint, and the edit that the hint asks for; and programs where no hint would help."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.finding import Kind
from compile_lens.workers.job import Depth

HEAD = "import torch\n\n\n"
BREAKS = Kind.GRAPH_BREAK
RECOMPILES = Kind.RECOMPILE


@dataclass(frozen=True)
class Cure:
    """A program, the edit that the hint asks for (text before, text after), and the kind of the finding that goes."""

    hint: str
    program: str
    edits: tuple[tuple[str, str], ...]
    kind: Kind
    depth: Depth = Depth.DYNAMO


def compiled(body: str, calls: str, parameters: str = "x", head: str = "", options: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{head}@torch.compile{options}\ndef f({parameters}):\n{lines}\n\n{calls}\n"


SIZES = compiled("return x * 2", "for n in (3, 4, 5):\n    x = torch.ones(n)\n    f(x)")
PARAMETERS = compiled(
    "return x @ w",
    "for n in (3, 4, 5):\n    f(torch.ones(2, 4), torch.nn.Parameter(torch.ones(4, n)))",
    "x, w",
)
UNIT = (
    HEAD
    + """class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 1

    def forward(self, x):
        return x * self.steps


net = Net()
c = torch.compile(net)
for n in (2, 3, 4, 5):
    net.steps = n
    c(torch.ones(3))
"""
)
BRANCH = compiled(
    "n = x.sum().item()\nif n > 3:\n    return x + 1\nreturn x - 1",
    "try:\n    f(torch.ones(3))\nexcept Exception:\n    pass",
    head="torch._dynamo.config.capture_scalar_outputs = True\n\n\n",
    options="(fullgraph=True)",
)
LOUD = (
    HEAD
    + """def loud(x):
    print("positive")
    return x.sin()


@torch.compile
def f(x):
    return torch.cond(x.sum() > 0, loud, torch.cos, (x,))


try:
    f(torch.ones(3))
except Exception:
    pass
"""
)
CUSTOM = (
    HEAD
    + """@torch.library.custom_op("compile_lens_hint::plain", mutates_args=())
def plain(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@torch.compile(fullgraph=True)
def f(x):
    return plain(x) * 2


try:
    f(torch.ones(3))
except Exception:
    pass
"""
)
PLANTED = (
    HEAD
    + """from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

call_function = TorchInGraphFunctionVariable.call_function


def planted(self, tx, args, kwargs):
    if self.value is torch.atan2:
        raise KeyError("planted")
    return call_function(self, tx, args, kwargs)


TorchInGraphFunctionVariable.call_function = planted


def angle(y, x):
    return torch.atan2(y, x)


@torch.compile
def f(x):
    y = x + 1
    return angle(y, x) * 2


try:
    f(torch.ones(3))
except Exception:
    pass
"""
)
DONATED = (
    HEAD
    + """@torch.compile
def loss_of(x, w):
    return torch.relu(x @ w).sin().sum()


x = torch.randn(4, 8, requires_grad=True)
w = torch.randn(8, 8, requires_grad=True)
loss_of(x, w).backward()
loss_of(x, w).backward(retain_graph=True)
"""
)
DOUBLE = (
    HEAD
    + """critic = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)))
x = torch.randn(4, 8, requires_grad=True)
(slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
(slope.norm(dim=-1) - 1).square().mean().backward()
"""
)

STEP = (
    HEAD
    + """net = torch.nn.Linear(3, 3)
net(torch.ones(3)).sum().backward()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile
def f(x):
    y = x + 1
    optimizer.step()
    return y * 2


f(torch.ones(3))
"""
)

EXIT = compiled(
    "for _ in range(5):\n    x = x / 2\n    if x.max() < 1:\n        break\nreturn x",
    "f(torch.full((3,), 9.0))",
)
CURES = [
    Cure(
        "Compile the body of the loop as a function of its own, and decide outside of it whether to call it again",
        EXIT,
        (
            ("@torch.compile\ndef f(x):\n", "@torch.compile\ndef halved(x):\n    return x / 2\n\n\ndef f(x):\n"),
            ("        x = x / 2\n", "        x = halved(x)\n"),
        ),
        BREAKS,
    ),
    Cure(
        "with the same number of items in every call",
        compiled("return sum(x.sum() for x in xs)", "for n in (2, 3):\n    f([torch.ones(3)] * n)", "xs"),
        (("* n)", "* 3)"),),
        RECOMPILES,
    ),
    Cure(
        "torch breaks here on purpose, so that the optimizer's step is a graph of its own",
        STEP,
        (("    optimizer.step()\n", ""), ("f(torch.ones(3))\n", "f(torch.ones(3))\noptimizer.step()\n")),
        BREAKS,
    ),
    Cure(
        "Call what `torch.compile(",
        f"{HEAD}layer = torch.nn.Linear(3, 3)\nlayer.compile()\nlayer(torch.ones(2, 3))\n",
        (("layer.compile()", "layer = torch.compile(layer)"),),
        Kind.NOT_COMPILED,
    ),
    Cure("Mark dimension", SIZES, (("    f(x)", "    torch._dynamo.mark_dynamic(x, 0)\n    f(x)"),), RECOMPILES),
    Cure("Or compile with `dynamic=True`", SIZES, (("@torch.compile", "@torch.compile(dynamic=True)"),), RECOMPILES),
    Cure(
        "Compile with `dynamic=True`.",
        compiled("y = x.sin()\ntorch._dynamo.graph_break()\nreturn y * 2", "for n in (3, 4, 5):\n    f(torch.ones(n))"),
        (("@torch.compile", "@torch.compile(dynamic=True)"),),
        RECOMPILES,
    ),
    Cure(
        ".contiguous()`: each memory layout",
        compiled("return x * 2", "for x in (torch.ones(4, 4), torch.ones(4, 4).t()):\n    f(x)"),
        (("    f(x)", "    f(x.contiguous())"),),
        RECOMPILES,
    ),
    Cure(
        "Use the same `requires_grad`",
        compiled("return x * 2", "for wanted in (True, False):\n    f(torch.ones(4, requires_grad=wanted))"),
        (("requires_grad=wanted", "requires_grad=True"),),
        RECOMPILES,
    ),
    Cure(
        "Pass `{}` as a tensor",
        compiled("return x * k", "for k in (2.5, 3.5):\n    f(torch.ones(3), k)", "x, k"),
        (("torch.ones(3), k", "torch.ones(3), torch.tensor(k)"),),
        RECOMPILES,
    ),
    Cure(
        "Make `{}` a tensor",
        compiled("return x * SCALE", "for SCALE in (2.5, 3.5):\n    f(torch.ones(3))"),
        (("    f(torch", "    SCALE = torch.tensor(SCALE)\n    f(torch"),),
        RECOMPILES,
    ),
    Cure(
        "torch always specializes on sizes 0 and 1",
        compiled(
            "return x * 2",
            "for n in (4, 5, 1):\n    x = torch.ones(n)\n    torch._dynamo.maybe_mark_dynamic(x, 0)\n    f(x)",
        ),
        (("(4, 5, 1)", "(4, 5)"),),
        RECOMPILES,
    ),
    Cure(
        "If you need this many versions",
        compiled("return x * 2", "for n in range(3, 14):\n    f(torch.ones(n))", options="(dynamic=False)"),
        (("import torch\n", "import torch\n\ntorch._dynamo.config.recompile_limit = 16\n"),),
        Kind.RECOMPILE_LIMIT,
    ),
    # torch's own, about a guard on a parameter and on a number of a module
    Cure(
        "Set `{}`, and compile with `dynamic=True`",
        PARAMETERS,
        (
            ("import torch\n", "import torch\n\ntorch._dynamo.config.force_parameter_static_shapes = False\n"),
            ("@torch.compile", "@torch.compile(dynamic=True)"),
        ),
        RECOMPILES,
    ),
    Cure(
        "torch._dynamo.config.allow_unspec_int_on_nn_module = True",
        UNIT,
        (
            ("import torch\n", "import torch\n\ntorch._dynamo.config.allow_unspec_int_on_nn_module = True\n"),
            ("torch.compile(net)", "torch.compile(net, dynamic=True)"),
        ),
        RECOMPILES,
    ),
    Cure(
        "which has no effect",
        compiled("y = (x * x).sum()\ny.backward()\nreturn x * 2", "f(torch.ones(3, requires_grad=True))"),
        (("import torch\n", "import torch\n\ntorch._dynamo.config.trace_autograd_ops = True\n"),),
        BREAKS,
    ),
    Cure(
        "draw the NumPy random number outside",
        compiled("return x * np.random.rand()", "f(torch.ones(3))", head="import numpy as np\n\n\n"),
        (
            ("x * np.random.rand()", "x * k"),
            ("def f(x)", "def f(x, k)"),
            ("f(torch.ones(3))", "f(torch.ones(3), torch.tensor(np.random.rand()))"),
        ),
        BREAKS,
    ),
    Cure(
        "a loop needs the number of values",
        compiled("y = x * 2\nfor v in torch.unique(x):\n    y = y + v\nreturn y", "f(torch.tensor([1.0, 2.0, 2.0]))"),
        (
            ("    for v in torch.unique(x):\n        y = y + v\n", ""),
            ("f(torch.tensor", "torch.unique(torch.ones(3))\nf(torch.tensor"),
        ),
        BREAKS,
    ),
    Cure(
        "Remove `fullgraph=True`",
        compiled(
            "print(x)\nreturn x * 2",
            "try:\n    f(torch.ones(3))\nexcept Exception:\n    pass",
            options="(fullgraph=True)",
        ),
        (("(fullgraph=True)", ""),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "Remove `error_on_graph_break(True)`",
        compiled(
            "with torch._dynamo.error_on_graph_break(True):\n    print(x)\n    return x * 2",
            "try:\n    f(torch.ones(3))\nexcept Exception:\n    pass",
        ),
        (("error_on_graph_break(True)", "error_on_graph_break(False)"),),
        Kind.COMPILE_ERROR,
    ),
    Cure("must be traced as a whole", LOUD, (('    print("positive")\n', ""),), Kind.COMPILE_ERROR),
    Cure(
        "Put `torch.compiler.disable` on the function",
        PLANTED,
        (("def angle", "@torch.compiler.disable\ndef angle"),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "Register a fake kernel",
        CUSTOM,
        (("@torch.compile(", "@plain.register_fake\ndef _(x):\n    return torch.empty_like(x)\n\n\n@torch.compile("),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "declare the dimension as `Dim.AUTO`",
        HEAD
        + """class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] == 4 else x


torch.export.draft_export(Net(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim("rows")},))
""",
        (('torch.export.Dim("rows")', "torch.export.Dim.AUTO"),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "State what always holds",
        BRANCH,
        (("    if n > 3", "    torch._check(n > 3)\n    if n > 3"),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "Use `{}` in the dynamic shapes",
        HEAD
        + """class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] == 4 else x


try:
    torch.export.export(Net(), (torch.ones(4),), dynamic_shapes=({0: torch.export.Dim("rows")},))
except Exception:
    pass
""",
        (('torch.export.Dim("rows")', "4"),),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "use `torch.where` or `torch.cond`",
        BRANCH,
        (
            (
                "    n = x.sum().item()\n    if n > 3:\n        return x + 1\n    return x - 1",
                "    return torch.where(x.sum() > 3, x + 1, x - 1)",
            ),
        ),
        Kind.COMPILE_ERROR,
    ),
    Cure(
        "List the known backends",
        compiled(
            "return x + 1",
            "try:\n    f(torch.ones(3))\nexcept Exception:\n    pass",
            options='(backend="no_such_backend")',
        ),
        (("no_such_backend", "eager"),),
        Kind.COMPILE_ERROR,
    ),
    Cure("Remove `retain_graph=True`", DONATED, (("retain_graph=True", ""),), Kind.RUN_ERROR, Depth.AOT),
    Cure(
        "torch._functorch.config.donated_buffer = False",
        DONATED,
        (
            (
                "import torch\n",
                "import torch\nimport torch._functorch.config\n\ntorch._functorch.config.donated_buffer = False\n",
            ),
        ),
        Kind.RUN_ERROR,
        Depth.AOT,
    ),
    Cure(
        "Keep the part whose gradient is differentiated again",
        DOUBLE,
        (("torch.compile(torch.nn", "(torch.nn"),),
        Kind.RUN_ERROR,
        Depth.AOT,
    ),
    Cure(
        'Or compile that part with `backend="eager"`',
        DOUBLE,
        (("Linear(8, 1)))", 'Linear(8, 1)), backend="eager")'),),
        Kind.RUN_ERROR,
        Depth.AOT,
    ),
    Cure(
        "Convert here if float64 is not intended",
        compiled("return x.double().sin() * 2 + x", "f(torch.ones(4))"),
        ((".double()", ".float()"),),
        Kind.PERFORMANCE,
    ),
]

# what no hint helps with has none
WITHOUT_HINT = {
    "a stride of an intermediate result": compiled(
        "y = x.t() if flag else x\ntorch._dynamo.graph_break()\nreturn y * 2",
        "for flag in (True, False):\n    f(torch.ones(4, 4), flag)",
        "x, flag",
    ),
    "a size that a parameter fixes": (
        HEAD
        + "@torch.compile\ndef f(x, net):\n    return net(x)\n\n\nfor n in (3, 4, 5):\n"
        + "    f(torch.ones(2, n), torch.nn.Linear(n, 4))\n"
    ),
    "a size of a parameter of a module": compiled(
        "return net(x)", "for n in (3, 4, 5):\n    f(torch.ones(2, 4), torch.nn.Linear(4, n))", "x, net"
    ),
    "a number that a loop needs": compiled(
        "for _ in range(n):\n    x = x * 2\nreturn x", "for n in (2, 3, 4):\n    f(torch.ones(3), n)", "x, n"
    ),
}
