"""``fullgraph=True``: where it is written, and where it is not offered."""

from __future__ import annotations

import pytest

from compile_lens.fixes.fix import FixKind, apply_fix
from compile_lens.fixes.rewrites.one_graph import one_graph
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import parse

HEAD = "import functools\n\nimport torch\n\n\n"
FUNCTION = "def f(x):\n    return x\n"
MODEL = "model = torch.nn.Linear(2, 2)\n"
WRITTEN = [
    (f"@torch.compile\n{FUNCTION}", "@torch.compile(fullgraph=True)\n"),
    (f"@torch.compile()\n{FUNCTION}", "@torch.compile(fullgraph=True)\n"),
    (f'@torch.compile(mode="default",)\n{FUNCTION}', '@torch.compile(mode="default", fullgraph=True,)\n'),
    (f"@functools.partial(torch.compile, dynamic=True)\n{FUNCTION}", "torch.compile, dynamic=True, fullgraph=True)\n"),
    (f"{FUNCTION}\n\ng = torch.compile(f)\n", "g = torch.compile(f, fullgraph=True)\n"),
    (f"{MODEL}model.compile()\n", "model.compile(fullgraph=True)\n"),
    (f"{MODEL}model.compile(dynamic=False)\n", "model.compile(dynamic=False, fullgraph=True)\n"),
]
LEFT = [
    f"@torch.compile(fullgraph=True)\n{FUNCTION}",
    f"@torch.compile(fullgraph=False)\n{FUNCTION}",
    f"OPTIONS = {{}}\n\n\n@torch.compile(**OPTIONS)\n{FUNCTION}",
    f"{FUNCTION}\n\ng = torch.compile(dynamic=True)(f)\n",
    f'{FUNCTION}\n\ng = torch._dynamo.optimize("eager")(f)\n',
    "exported = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(2),))\n",
]


@pytest.mark.parametrize(("program", "expected"), WRITTEN)
def test_where_the_option_is_written(program: str, expected: str) -> None:
    tree = parse(HEAD + program)
    (region,) = find_regions(tree)
    fix = one_graph(region, tree)
    assert fix is not None and (fix.rule, fix.kind) == ("one-graph", FixKind.KEEP)
    assert fix.title == f"Keep `{region.name}` one graph (`fullgraph=True`)"
    changed = apply_fix(tree.text, fix)
    assert expected in changed, changed
    assert all(region.fullgraph for region in find_regions(changed))


@pytest.mark.parametrize("program", LEFT)
def test_where_it_is_given_or_cannot_be_added_nothing_is_offered(program: str) -> None:
    tree = parse(HEAD + program)
    assert [one_graph(region, tree) for region in find_regions(tree)] == [None] * len(find_regions(tree))
