"""Lines with a finding, and what a rewrite makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.finding import Kind


@dataclass(frozen=True)
class Case:
    """The lines of a compiled function, the piece that the finding covers, the rule, and the lines that come of it."""

    rule: str
    lines: str
    at: str
    expected: str
    kind: Kind = Kind.GRAPH_BREAK
    detail: str = ""


BREAKS = [
    Case(
        "loop-over-all",
        "hit = x.gt(0).nonzero()\n    for i in hit:\n        y = y + x[i]",
        "x[i]",
        "hit = x.gt(0)\n    for i in range(len(hit)):\n        y = y + x[i]",
    ),
    Case(
        "loop-over-all",
        "hit = torch.nonzero(x > 0)\n    for i in hit:\n        y = y + x[i]",
        "torch.nonzero(x > 0)",
        "hit = x > 0\n    for i in range(len(hit)):\n        y = y + x[i]",
    ),
    Case("where", "if x.sum() > 0:\n    y = 1\nelse:\n    y = 2", "x.sum() > 0", "y = torch.where(x.sum() > 0, 1, 2)"),
    Case(
        "where",
        "if math.isnan(x.sum().item()):\n    x = torch.zeros_like(x)",
        "x.sum().item()",
        "x = torch.where(torch.isnan(x.sum()), torch.zeros_like(x), x)",
    ),
    Case(
        "keep-tensor",
        "e = x.sum().item()\n    x = x / math.sqrt(e)",
        "x.sum().item()",
        "e = x.sum()\n    x = x / torch.sqrt(e)",
    ),
    Case(
        "keep-tensor-where",
        "e = x.sum().item()\n    if math.isnan(e) or math.isinf(e):\n        x = torch.zeros_like(x)",
        "x.sum().item()",
        "e = x.sum()\n    x = torch.where((torch.isnan(e)) | (torch.isinf(e)), torch.zeros_like(x), x)",
    ),
    Case(
        "keep-tensor-where",
        "e = x.sum().item()\n    if not math.isfinite(e):\n        x = x * 0",
        "math.isfinite(e)",
        "e = x.sum()\n    x = torch.where(~(torch.isfinite(e)), x * 0, x)",
    ),
    Case(
        "keep-tensor-check",
        "e = x.sum().item()\n    if not math.isfinite(e):\n        raise ValueError(e)",
        "x.sum().item()",
        "e = x.sum()\n    check_e(e)",
    ),
    Case("where", "if x.max().item() > 3:\n    x += 1", "x.max().item()", "x = torch.where(x.max() > 3, x + 1, x)"),
    Case(
        "where",
        "if x.any() and not y.all():\n    x = x + 1",
        "x.any()",
        "x = torch.where((x.any()) & (~(y.all())), x + 1, x)",
    ),
    Case(
        "where",
        "if x.sum() > 1:\n    x = a\nelif x.sum() > 0:\n    x = b\nelse:\n    x = c",
        "x.sum() > 1",
        "x = torch.where(x.sum() > 1, a, torch.where(x.sum() > 0, b, c))",
    ),
    Case(
        "where",
        "if x.sum() > 1:\n    a = x\n    b = x + 1",
        "x.sum() > 1",
        "chosen = x.sum() > 1\n    a, b = torch.where(chosen, x, a), torch.where(chosen, x + 1, b)",
    ),
    Case(
        "where",
        "if torch.isinf(x).any():\n    limit = torch.finfo(x.dtype).max - 1000\n    x = torch.clamp(x, -limit, limit)",
        "torch.isinf(x).any()",
        "limit = torch.finfo(x.dtype).max - 1000\n    x = torch.where(torch.isinf(x).any(), torch.clamp(x, -limit, limit), x)",
    ),
    Case(
        "where",
        "if x.sum() > 1:\n    return a, b\nelse:\n    return b, a",
        "x.sum() > 1",
        "return torch.where(chosen, a, b)",
    ),
    Case(
        "where",
        "if x.sum() == 0:\n    return x * 0\nlow, high = x.min(), x.max()\nspan = high - low\nreturn (x - low) / span",
        "x.sum() == 0",
        "    low, high = x.min(), x.max()\n    span = high - low\n    return torch.where(x.sum() == 0, x * 0, (x - low) / span)\n",
    ),
    Case(
        "time-in-eager",
        "start = time.perf_counter()\n    x = x * 2",
        "time.perf_counter()",
        "start = 0.0 if torch.compiler.is_compiling() else time.perf_counter()\n",
    ),
    Case(
        "time-in-eager",
        "y.append(time.time_ns() - y[0])",
        "time.time_ns()",
        "y.append((0 if torch.compiler.is_compiling() else time.time_ns()) - y[0])",
    ),
    Case("where", "x[0] = 1 if torch.equal(a, b) else 2", "torch.equal(a, b)", "torch.where((a == b).all(), 1, 2)"),
    Case(
        "while-loop",
        "while x.sum() < 10:\n    x = x * 2",
        "x.sum() < 10",
        "def is_not_done(x):\n        return x.sum() < 10\n\n    def next_step(x):\n        x = x * 2\n        return (x,)\n\n"
        "    x, = torch._higher_order_ops.while_loop(is_not_done, next_step, (x,))",
    ),
    Case("with-torch", "y = math.sqrt(x.sum().item())", "x.sum().item()", "y = torch.sqrt(x.sum())"),
    Case("with-torch", "y = max(x.max(), y.max())", "max(x.max(), y.max())", "y = torch.maximum(x.max(), y.max())"),
    Case("with-torch", "y = copy.deepcopy(x)", "copy.deepcopy(x)", "y = x.clone()"),
    Case("detach", "y = x * x.max().item()", "x.max().item()", "y = x * x.max().detach()"),
    Case("masked-sum", "y = x[x > 0].sum()", "x[x > 0]", "y = torch.where(x > 0, x, 0).sum()"),
    Case(
        "print-in-graph",
        'print("mean", x.mean())',
        'print("mean", x.mean())',
        'torch._higher_order_ops.print("mean {}", x.mean())',
    ),
    Case(
        "print-in-graph",
        "print(x.shape, x.size(0), y.size())",
        "print(x.shape, x.size(0), y.size())",
        'torch._higher_order_ops.print("{} {} {}", str(x.shape), x.size(0), str(y.size()))',
    ),
    Case("remove-break", "torch._dynamo.graph_break()\n    x = x + 1", "torch._dynamo.graph_break()", "x = x + 1"),
    Case(
        "log-in-eager",
        'log.info("a")',
        'log.info("a")',
        'if not torch.compiler.is_compiling():\n        log.info("a")',
    ),
    Case(
        "guard-or-true",
        "y = x[x > 0]\n    if y.numel() > 0:\n        x = x + 1",
        "y.numel() > 0",
        "    if guard_or_true(y.numel() > 0):\n",
    ),
    Case(
        "write-anyway",
        'if y.any():\n    x[y] = float("-inf")\n    x[y, 0] = 0.0',
        "y.any()",
        '    x[y] = float("-inf")\n    x[y, 0] = 0.0\n    return x',
    ),
    Case("write-anyway", "if (y.sum() > 0):\n    x[:, y] *= -2", "y.sum()", "    x[:, y] *= -2\n    return x"),
    Case("write-anyway", "if torch.any(y).item():\n    x[y] = x[y] + 1", "torch.any(y)", "    x[y] = x[y] + 1\n"),
    Case("keep-mask", "y = x\n    if mask.all():\n        mask = None\n    x = y", "mask.all()", "y = x\n    x = y"),
    Case("detach", "kept.append(x.sum().item())", "x.sum().item()", "kept.append(x.sum().detach())"),
    Case("hoist", 'n = int(os.environ.get("N", 1))', 'os.environ.get("N", 1)', "n = int(GET)"),
    Case(
        "assert-async",
        'if (x < 0).any():\n    raise ValueError("a")',
        "(x < 0).any()",
        'torch._assert_async(~((x < 0).any()), "a")',
    ),
    Case(
        "check-in-eager",
        'if (x < 0).any():\n    raise ValueError("a")',
        "(x < 0).any()",
        "if not torch.compiler.is_compiling() and ((x < 0).any()):",
    ),
    Case(
        "check-in-graph",
        "n = len(y)\n    if x.sum() != n and y is not None:\n        raise ValueError(\n            f'{n} of {math.pi}'\n        )",
        "x.sum() != n and y is not None",
        '@torch.library.custom_op("checks::check_x", mutates_args=())\n'
        "def check_x(x: torch.Tensor, n: int, y: torch.Tensor | None) -> None:\n"
        "    if x.sum() != n and y is not None:\n        raise ValueError(\n            f'{n} of {math.pi}'\n        )\n\n\n"
        "@check_x.register_fake\ndef _(x, n, y):\n    pass\n",
    ),
    Case(
        "assume-flag",
        "some = (x > 1).any().item()\n    y = x",
        "(x > 1).any().item()",
        '        torch._assert_async((x > 1).any(), "compiled for some = True")\n        some = True\n'
        "    else:\n        some = (x > 1).any().item()\n    y = x\n",
    ),
    Case("capture-both", "y = torch.nonzero(x)", "torch.nonzero(x)", "y = torch.nonzero(x)"),
    Case(
        "capture-and-check",
        "n = x.sum().item()\n    y = x",
        "x.sum().item()",
        "n = x.sum().item()\n    torch._check(n > 1)\n    y = x",
    ),
    Case(
        "split",
        "x = x + 1\n    k = os.getpid()\n    return x * k",
        "os.getpid()",
        "x = f_before(x)\n    k = os.getpid()\n    return f_after(x, k)",
    ),
]
