"""What a function reaches by a text, which it looks up, is reached; an attribute or a layer that a model looks up is not."""

from __future__ import annotations

import pytest

from compile_lens.entries.targets import candidates, find_targets
from compile_lens.syntax.tree import parse


def is_called(statement: str, above: str = "import os") -> bool:
    body = "".join(f"    {line}\n" for line in statement.split("\n"))
    tree = parse(f"import torch\n{above}\ndef scale(x: torch.Tensor, path):\n{body}    return torch.sin(x)\n")
    assert bool(find_targets(tree)) == bool(candidates(tree))
    return bool(find_targets(tree))


@pytest.mark.parametrize(
    "statement",
    [
        'globals()["os"].unlink2(path)',
        "globals()['o' 's'].x(path)",
        "globals()['o' + 's'].x(path)",
        r"globals()['\x6fs'].x(path)",
        'globals().get("os", None).x(path)',
        '(globals()).__getitem__("os").x(path)',
        'vars(torch)["save"](x, path)',
        'torch.__dict__["save"](x, path)',
        'torch.nn.Module.forward.__globals__["os"].x(path)',
        'getattr(torch, "save")(x, path)',
        'getattr(torch, "serialization.save", None)(x, path)',
        'torch.__getattribute__("save")(x, path)',
        'from operator import attrgetter\n    attrgetter("serialization.save")(torch)(x, path)'.replace("    ", ""),
        'from operator import methodcaller\nmethodcaller("save", x, path)(torch)',
        'from operator import itemgetter\nitemgetter("os")(globals()).x(path)',
        'g = globals()\ng["os"].x(path)',
        'for name in ("os", "shutil"):\n    globals()[name].x(path)',
        'name = "save"\ngetattr(torch, name)(x, path)',
        "torch.nn.Module.__subclasses__()",
        "torch.__spec__.x",
        "import numpy\nnumpy.DataSource(path)",
    ],
)
def test_a_text_that_is_looked_up_is_a_name(statement: str) -> None:
    assert not is_called(statement)


@pytest.mark.parametrize(
    ("above", "statement"),
    [
        ("from operator import attrgetter as a", 'a("serialization.save")(torch)(x, path)'),
        ("find = getattr", 'find(torch, "save")(x, path)'),
        ("names = globals", 'names()["os"].x(path)'),
        ("names = globals", 'all_ = names()\nall_["os"].x(path)'),
    ],
)
def test_what_looks_it_up_may_have_any_name(above: str, statement: str) -> None:
    assert not is_called(statement, above)


@pytest.mark.parametrize(
    "statement",
    [
        "x = getattr(torch, 'relu')(x)",
        "x = getattr(torch, path)(x)",
        "x = {'input': x, 'os': 1}['input']",
        "x = getattr(x, 'T') if path != 'save' else x",
        "x = globals()['torch'].relu(x)",
        "x = vars(self)['save'] if path else x",
        "x = {'load': x}.get('load')",
        "self = x\nx = getattr(self, path, None) or {'load': x}['load']",
        "import operator\nx = operator.itemgetter(0)([x, 'open'])",
    ],
)
def test_what_a_model_looks_up_is_none(statement: str) -> None:
    assert is_called(statement, "")
