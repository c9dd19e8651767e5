"""Short texts whose values or walks double with each line: what is predicted is bounded by steps, and what comes before them is kept."""

from __future__ import annotations

import pytest

from compile_lens.syntax.predictions.budget import WalkBudget
from compile_lens.syntax.predictions.predict import predict

_LINES = 60
_BREAK = "    if x.sum() > 0:\n        x = x + 1\n"
_START = "import torch\n@torch.compile\ndef f(x):\n" + _BREAK


def _names(operation: str) -> str:
    names = "".join(f"A{i} = {operation.format(f'A{i - 1}')}\n" for i in range(1, _LINES))
    return f"{_START}    y = A{_LINES - 1}\n    return x\nA0 = 1\n{names}"


def _pairs() -> str:
    pairs = "    a = (a, a)\n    b = (b, b)\n" * _LINES
    return f"{_START}    a = x\n    b = x\n{pairs}    return a if x is None else b\n"


def _functions() -> str:
    # each call has other kinds of arguments
    functions = "".join(f"def g{i}(x): return (g{i - 1}(x), g{i - 1}((x, x)))\n" for i in range(1, _LINES))
    return f"{_START}    return g{_LINES - 1}(x)\ndef g0(x): return x\n{functions}"


def _loops() -> str:
    loops = "".join("    " * (depth + 1) + f"for i{depth} in range(2):\n" for depth in range(13))
    return f"{_START}{loops}{'    ' * 14}y = [{', '.join(['x.sin()'] * 2_000)}]\n    return x\n"


def _attributes() -> str:
    held = "        self.a = torch.nn.ModuleList()\n" + "        self.a.append((self.a, self.a))\n" * _LINES
    return f"""import torch
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
{held}    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        y = self.a == self.a
        return x
m = torch.compile(M())
"""


def _branches() -> str:
    names = "".join(f"    n{i} = {i}\n" for i in range(2_000))
    branch = "    if x is None:\n        y = 1\n"
    return f"{_START}{names}{branch * 2_000}"


@pytest.mark.parametrize(
    "text",
    [_names("({0}, {0})"), _names("{0} + {0}"), _pairs(), _functions(), _loops(), _attributes(), _branches()],
    ids=["names-of-pairs", "names-of-sums", "pairs", "functions", "loops", "attributes", "branches"],
)
def test_a_short_text_takes_few_steps(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    budgets: list[_Counted] = []

    def counted() -> _Counted:
        budgets.append(_Counted())
        return budgets[-1]

    monkeypatch.setattr("compile_lens.syntax.predictions.predict.WalkBudget", counted)
    assert [found.code for found in predict(text)] == ["GB0170"]
    assert len(budgets) == 1 and budgets[0].refused <= 50_000


class _Counted(WalkBudget):
    """Counts what is asked for after nothing is left: a walk that goes on for long would not end."""

    refused = 0

    def take(self, steps: int = 1) -> bool:
        is_left = super().take(steps)
        self.refused += not is_left
        return is_left
