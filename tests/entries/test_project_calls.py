"""A class is constructed as its project does it: with what other files, tests, examples and pages pass, written out."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
project_calls = agent_module("inputs.synthesis.project.project_calls")
written_out = agent_module("inputs.synthesis.project.written_out")

ENCODER = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, depth=12):
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        return self.layers(x)
"""
HEAD = '''\
from torch import nn


class Head(nn.Module):
    """Heads for one encoder.

    >>> head = Head.__new__(Head)
    """

    def __init__(self, backbone, sizes, columns, options, scale=1.0):
        super().__init__()
        assert options["kind"] == "known only to who uses it"
        assert [name for name, _ in columns] == ["age", "place"]
        self.backbone = backbone
        self.parts = nn.ModuleDict({name: nn.Linear(backbone.width, size) for name, size in sizes.items()})

    def forward(self, x):
        x = self.backbone(x)
        return {name: part(x) for name, part in self.parts.items()}


class Tail(nn.Module):
    def __init__(self, head, names):
        super().__init__()
        self.head, self.names = head, names.index("text")

    def forward(self, x):
        return self.head(x)


def small(names=("audio", "text")):
    return Tail(nn.Linear(5, 5), list(names))
'''
USE = """\
import torch
from {package}.parts import encoder as encoders
from {package}.head import Head

WIDTH = 24
OPTIONS = {{"kind": "known only to who uses it"}}


class TestHead:
    kind = "a"

    def setup_method(self):
        self.backbone = encoders.Encoder(WIDTH, depth=30).cuda()

    def test_head(self):
        size = WIDTH // 4
        columns = [("age", size), ("place", 2)]
        more = dict(options=OPTIONS, scale=0.5)
        assert Head(self.backbone, {{"audio": size, "text": 3}}, columns=columns, **more)
"""


def package(folder: Path, name: str, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module ``head`` of a package, imported as it is in its project."""
    everything = {"pyproject.toml": "", f"{name}/__init__.py": "", f"{name}/parts/__init__.py": "", **files}
    for path, text in everything.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module(f"{name}.head")


def test_what_a_test_constructs_is_constructed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "project_of_heads"
    files = {
        f"{name}/head.py": HEAD,
        f"{name}/parts/encoder.py": ENCODER,
        "tests/test_head.py": USE.format(package=name),
    }
    module = package(tmp_path, name, files, monkeypatch)
    found = target.find_call(module, "Head", target.SearchBudget())
    assert found.making == (
        f"Head(backbone={name}.parts.encoder.Encoder(24, depth=2), sizes={{'audio': 24 // 4, 'text': 3}},"
        " columns=[('age', 24 // 4), ('place', 2)], options={'kind': 'known only to who uses it'}, scale=0.5)"
    )
    assert found.inputs.endswith("x: float32[2, 16, 24]")
    # a function of the file, with the defaults of its parameters
    assert target.find_call(module, "Tail", target.SearchBudget()).making == (
        "Tail(head=nn.Linear(5, 5), names=list(('audio', 'text')))"
    )


def test_the_code_of_a_page_counts_and_the_nearest_call_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "project_of_pages"
    near = f"from {name}.head import Head\nSIZES = {{'near': 1}}\nhead = Head(None, SIZES, [], {{}})\n"
    page = (
        f"Use it:\n\n```python\nfrom {name}.head import Head\n```\n\n```python\n>>> Head(1, 2, 3, options={{}})\n```\n"
    )
    files = {f"{name}/head.py": HEAD, f"{name}/parts/encoder.py": near, "README.md": page}
    module = package(tmp_path, name, files, monkeypatch)
    assert project_calls.project_calls(module, module.Head) == [
        {"backbone": "None", "sizes": "{'near': 1}", "columns": "[]", "options": "{}"},
        {"backbone": "1", "sizes": "2", "columns": "3", "options": "{}"},
    ]


def written(text: str, own: tuple[str, ...] = ()) -> str:
    """The first argument of the last call of `Net` in a file of a package, written out."""
    file = written_out.File(ast.parse(text), "pkg.use", own)
    return str(file.written(list(file.calls("Net", "pkg"))[-1].args[0]))


@pytest.mark.parametrize(
    ("before", "argument", "result"),
    [
        ("size = 8\nsize = size * 2", "size", "8 * 2"),
        (
            "from .parts import Encoder as E",
            "E(size=[n for n in (1, 2)])",
            "pkg.parts.Encoder(size=[n for n in (1, 2)])",
        ),
        ("import pkg.parts.deep", "pkg.parts.deep.Encoder()", "pkg.parts.deep.Encoder()"),
        ("class Part: pass", "Part().to('cuda')", "pkg.use.Part()"),
        ("width, depth = 8, 2", "lambda x: x + depth", "lambda x: x + 2"),
        ("for size in (4, 8): pass", "size", "4"),
        ("import functools, torch", "functools.partial(torch.relu)", "functools.partial(torch.relu)"),
    ],
)
def test_names_are_written_out(before: str, argument: str, result: str) -> None:
    assert written(f"from pkg.net import Net\n{before}\nnet = Net({argument})\n") == result


@pytest.mark.parametrize(
    ("before", "argument"),
    [
        ("", "unknown"),
        ("import os", "os.environ['HOME']"),
        ("import torch", "torch.load('weights.pt')"),
        ("", "open('a')"),
        ("size, depth = sizes()", "size"),
        ("for size in sizes(): pass", "size"),
        ("def of(a, b): return a", "(a := of(1, 2))"),
    ],
)
def test_what_has_no_meaning_elsewhere_is_left_out(before: str, argument: str) -> None:
    with pytest.raises(written_out.NotWritable):
        written(f"from pkg.net import Net\n{before}\nnet = Net({argument})\n")


def test_parameters_have_their_defaults_and_what_a_test_gives_them() -> None:
    text = (
        "import pytest\nfrom pkg.net import Net\n\n\n"
        '@pytest.mark.parametrize("width,kind", [(8, "a"), (16, "b")])\ndef test_net(width, kind):\n    Net({kind: width})\n'
    )
    assert written(text) == "{'a': 8}"
    assert written("from pkg.net import Net\n\n\ndef make(width=8):\n    return Net(width)\n") == "8"
    with pytest.raises(written_out.NotWritable):
        written("from pkg.net import Net\n\n\ndef make(width):\n    return Net(width)\n")
    # of another package, and of another class of the same name
    assert not list(written_out.File(ast.parse("from other import Net\nNet(1)\n"), "pkg.use").calls("Net", "pkg"))


def test_no_module_is_imported_by_reading() -> None:
    assert "pkg" not in sys.modules
