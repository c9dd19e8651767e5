"""Where compilation starts, and what only looks like it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from compile_lens.syntax.regions import Region, RegionKind, find_regions
from compile_lens.syntax.tree import parse


def one(source: str) -> Region:
    regions = find_regions(dedent(source))
    assert len(regions) == 1, regions
    return regions[0]


def text_of(source: str, region: Region) -> str:
    lines = source.split("\n")[region.line - 1 : region.end_line]
    lines[-1] = lines[-1][: region.end_column - 1]
    lines[0] = lines[0][region.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("imports", "decorator", "fullgraph"),
    [
        ("import torch", "@torch.compile", False),
        ("import torch", "@torch.compile()", False),
        ("import torch", "@torch.compile(fullgraph=True, dynamic=False)", True),
        ("import torch", "@torch.compile(fullgraph=False)", False),
        ("import torch", "@torch.compiler.compile", False),
        ("import torch as t", "@t.compile(backend='eager')", False),
        ("from torch import compile", "@compile", False),
        ("from torch import compile as tc", "@tc(fullgraph=True)", True),
        ("from torch import *", "@compile", False),
        ("import torch.nn as nn, torch", "@torch.compile", False),
        ("import torch.nn", "@torch.compile", False),
        ("import functools, torch", "@functools.partial(torch.compile, fullgraph=True)", True),
        ("from functools import partial\nimport torch", "@partial(torch.compile, dynamic=True)", False),
        ("import torch._dynamo", "@torch._dynamo.optimize('eager')", False),
        ("import torch._dynamo", "@torch._dynamo.optimize('eager', nopython=True)", True),
        ("import torch._dynamo as dynamo", "@dynamo.optimize()", False),
        ("from torch import _dynamo", "@_dynamo.optimize_assert('eager')", True),
        ("import torch\nfast = torch.compile(fullgraph=True)", "@fast", True),
        ("import torch\nfast = torch.compile", "@fast(mode='reduce-overhead')", False),
        ("import torch, functools\nfast = functools.partial(torch.compile, fullgraph=True)", "@fast()", True),
    ],
)
def test_decorators(imports: str, decorator: str, fullgraph: bool) -> None:
    source = f"{imports}\n\n@staticmethod\n{decorator}\ndef f(x):\n    return x\n"
    regions = find_regions(source)
    assert [region.kind for region in regions] == [RegionKind.DECORATOR]
    region = regions[0]
    assert text_of(source, region) == decorator
    assert (region.name, region.target, region.fullgraph) == ("f", "f", fullgraph)
    assert region.target_line == region.line - 1, "the first decorator is the interpreter's first line"
    assert region.target_end_line == region.line + 2


@pytest.mark.parametrize(
    ("call", "name", "target"),
    [
        ("torch.compile(f)", "f", "f"),
        ("torch.compile(model=f)", "f", "f"),
        ("torch.compile(Net(), mode='max-autotune')", "Net", "Net()"),
        ("torch.compile(nn.Linear(3, 3))", "nn.Linear", "nn.Linear(3, 3)"),
        ("torch.compile(Net().to('cpu').eval())", "Net", "Net().to('cpu').eval()"),
        ("torch.compile(self.net)", "self.net", "self.net"),
        ("torch.compile(self.blocks[0])", "self.blocks[0]", "self.blocks[0]"),
        ("torch.compile(lambda x: x + 1)", "<lambda>", "lambda x: x + 1"),
        ("torch.compile(fullgraph=True)(f)", "f", "f"),
        ("torch._dynamo.optimize('eager')(f)", "f", "f"),
        ("functools.partial(torch.compile, dynamic=True)(f)", "f", "f"),
        ("torch.compile(\n    f,\n    dynamic=True,\n)", "f", "f"),
    ],
)
def test_calls(call: str, name: str, target: str) -> None:
    source = f"import functools\nimport torch\nfrom torch import nn\n\ng = {call}\n"
    regions = find_regions(source)
    assert [(region.kind, region.name, region.target) for region in regions] == [(RegionKind.CALL, name, target)]
    assert text_of(source, regions[0]) == call


def test_export() -> None:
    region = one("import torch\nprogram = torch.export.export(Net(), (x,))\n")
    assert (region.kind, region.name, region.target) == (RegionKind.EXPORT, "Net", "Net()")
    assert one("from torch.export import export\nexport(net, (x,))\n").name == "net"


@pytest.mark.parametrize(
    "call",
    [
        "net.compile()",
        "net.compile(fullgraph=True)",
        "self.compile()",
        "self.block.compile(backend='eager')",
        "nn.Linear(3, 3).compile()",
        "for block in net.blocks: block.compile(mode='default')",
        "models.Net(3).compile(dynamic=True)",
        "net.compile(**options)",
    ],
)
def test_module_compiled_in_place(call: str) -> None:
    source = f"import models\nimport torch\nfrom torch import nn\n\n{call}\n"
    assert [region.kind for region in find_regions(source)] == [RegionKind.METHOD]


@pytest.mark.parametrize(
    "source",
    [
        "import re, torch\nre.compile('a')\n",
        "import re, torch\nre.compile(r'a', flags=re.I)\n",
        "import re, torch\npattern = re\npattern.compile('a+')\n",
        "import re, torch\npattern = re.something()\npattern.compile()\n",
        "import torch\ncompile('1', 'f', 'eval')\n",
        "import torch\ncompile\n",
        "import ast, torch\ncompile(ast.parse('1'), 'f', 'exec')\n",
        "import torch, triton\ntriton.compile(kernel)\n",
        "import torch, jax\njax.jit(f).lower(x).compile()\n",
        "import torch\nmodel.compile(optimizer='adam', loss='mse')\n",
        "import torch\nmodel.compile('adam')\n",
        "import torch\n'abc'.compile()\n",
        "import torch\ntorch.jit.script(f)\n",
        "import torch\n@torch.jit.script\ndef f(x): return x\n",
        "import torch\n@torch.compiler.disable\ndef f(x): return x\n",
        "import torch\ntext = '@torch.compile'\n# torch.compile(f)\n",
        'import torch\n"""\n>>> torch.compile(f)\n"""\n',
        "import torch\nfast = torch.compile(dynamic=True)\n",
        "import torch\nfast = torch.compile\n",
        "import torch, functools\nfast = functools.partial(torch.compile, fullgraph=True)\n",
        "import torch\ntorch.compile(**options)\n",
        "import torch\ntorch.compile(None)\n",
        "torch.compile(f)\n",
        "model.compile()\n",
        "from other import compile\nimport torch\n@compile\ndef f(x): return x\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\ntorch.compile(f)\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from torch import compile\ncompile(f)\n",
        "import torch\nclass Compiler:\n    def compile(self): ...\n    def run(self):\n        self.compile()\n",
        "from .torch import compile\ncompile(f)\n",
        "",
    ],
)
def test_what_only_looks_like_a_region(source: str) -> None:
    assert find_regions(source) == ()


def test_import_in_the_other_branch_of_type_checking_counts() -> None:
    source = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import torch\ntorch.compile(f)\n"
    )
    assert len(find_regions(source)) == 1


def test_qualified_names() -> None:
    source = dedent(
        """
        import torch

        class Net(torch.nn.Module):
            @torch.compile
            def forward(self, x):
                @torch.compile
                def inner(y):
                    return y
                return inner(x)

        @torch.compile
        class Other(torch.nn.Module):
            pass
        """
    )
    assert [region.name for region in find_regions(source)] == ["Net.forward", "Net.forward.<locals>.inner", "Other"]


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("torch.compile(step)", (3, 5)),
        ("torch.compile(Net())", (6, 10)),
        ("torch.compile(net.eval())", (6, 10)),
        ("net.compile()", (6, 10)),
        ("torch.compile(lambda x: x)", (12, 12)),
        ("torch.compile(unknown)", (None, None)),
        ("torch.compile(make())", (None, None)),
    ],
)
def test_target_lines_of_what_is_defined_in_the_file(call: str, lines: tuple[int | None, int | None]) -> None:
    source = (
        "import torch\n"
        "\n"
        "@torch.no_grad()\n"
        "def step(x):\n"
        "    return x\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "    def forward(self, x):\n"
        "        return x\n"
        "net = Net()\n"
        f"compiled = {call}\n"
    )
    region = one(source)
    assert (region.target_line, region.target_end_line) == lines


def test_target_of_self_is_a_method_of_the_class_around_it() -> None:
    region = one(
        """
        import torch
        def step(x): return x
        class Trainer:
            def __init__(self):
                self.fast = torch.compile(self.step)
            def step(self, x):
                return x
        """
    )
    assert (region.target_line, region.target_end_line) == (7, 8)


def test_target_is_looked_up_from_the_innermost_scope() -> None:
    region = one(
        """
        import torch
        def f(x): return x
        def main():
            def f(x): return -x
            return torch.compile(f)
        """
    )
    assert region.target_line == 5


def test_names_that_stand_for_themselves_end() -> None:
    assert find_regions("import torch\na = b\nb = a\na(f)\ntorch.compile(a)\n")[0].target_line is None
    find_regions("import torch\nf = f(f)\nf(1)\nmodel = model.to(1)\ntorch.compile(model)\n")


def test_broken_code_keeps_what_is_whole() -> None:
    source = "import torch\n\n@torch.compile\ndef f(x):\n    return x +\n\ng = torch.compile(f)\ndef (:\n"
    assert [region.name for region in find_regions(source)] == ["f", "f"]


def test_a_parsed_tree_is_taken_as_well() -> None:
    source = "import torch\ntorch.compile(f)\n"
    assert find_regions(parse(source)) == find_regions(source)


def test_long_names_are_cut() -> None:
    assert len(one(f"import torch\ntorch.compile(a + {'b' * 100})\n").name) == 60


@pytest.mark.parametrize("between", ["# at the margin", "# two\n\n  # more", "@staticmethod\n# below another"])
def test_comments_between_a_decorator_and_its_method_may_begin_anywhere(between: str) -> None:
    between = between.replace("@", "    @")
    source = f"import torch\nclass Net:\n    @torch.compile\n{between}\n    def forward(x):\n        return x\n"
    (region,) = find_regions(source)
    assert (region.name, region.line, region.target_line) == ("Net.forward", 3, 3)


def test_what_looks_like_a_comment_in_a_string_stays() -> None:
    tree = parse('text = """\n# no comment\n    def f(): pass\n"""\n')
    assert tree.node_text(tree.root).count("# no comment") == 1
