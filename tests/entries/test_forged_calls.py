"""What a program may forge of its calls: of any text, only what the sources of the project and a list of makers allow is written down."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compile_lens.entries.call_grammar import RETURNS_FIRST, written_call
from compile_lens.entries.keep_inputs import as_comment, as_functions
from compile_lens.entries.makers import MAKERS, METHODS
from compile_lens.entries.project_names import ProjectFiles
from compile_lens.pipeline.imported_files import project_files
from compile_lens.syntax.tree import parse

TEXT = """import os
import numpy
import numpy as np
import setuptools
import torch
from setuptools._distutils.spawn import spawn
from setuptools import Command
from torch import nn
from torch.serialization import _open_file
from library import Recorder as Tape, LlamaConfig
from .parts import Part, make_part, remove_all, SIZES as KNOWN

K = numpy
SIZES = {"small": 8}


class Net(nn.Module):
    def __init__(self, width): ...
    def forward(self, x): ...
    def setup_caches(self, size): ...
    def copy(self, where):
        open(where, "w")


class Cfg:
    @classmethod
    def make(cls, name): ...


class Heir(Part): ...


class Saver:
    def __init__(self, where="log"):
        open(where, "w")


def f(x, n): ...


def purge(where):
    os.system(where)
"""
PARTS = """import os

SIZES = {"small": 4}


class Part:
    def __init__(self, code): ...
    def run(self, x): ...
    def wipe(self, x):
        os.remove(x)


class Log:
    def __init__(self, where=None):
        open(where)


def make_part(width=4): ...


def remove_all(where="/"):
    os.removedirs(where)
"""
FILE = parse(TEXT)


@pytest.fixture
def files(tmp_path: Path) -> ProjectFiles:
    package = tmp_path / "project" / "package"
    package.mkdir(parents=True)
    for name, text in {"__init__.py": "", "main.py": TEXT, "parts.py": PARTS, "other.py": "class Other: ...\n"}.items():
        (package / name).write_text(text)
    (package.parent / "setup.py").write_text("class Wipe: ...\nWipe()\n")
    return project_files(str(package / "main.py"), str(package.parent))


FORGED = [
    # a module, or what is called a class, that gets a name by which a function of it is called
    "Net((m := torch.serialization, m._open_file('victim', 'wb'))[0])(float32[2])",
    "Net((m := setuptools._distutils.spawn, m.spawn(['touch', 'x']))[0])(float32[2])",
    "Net((m := Net, setattr(m, 'forward', f))[0])(float32[2])",
    # what comes out of an item, a function or a choice
    "f([setuptools._distutils.spawn.spawn][0](['touch', 'x']), 1)",
    "f({'a': setuptools._distutils.spawn.spawn}['a'](['touch', 'x']), 1)",
    "f([spawn][0](['touch', 'x']), 1)",
    "[purge][0]('touch x')",
    "{'a': f}['a'](1, 2)",
    f"f(({RETURNS_FIRST})(spawn)(['touch', 'x']), 1)",
    f"({RETURNS_FIRST})(float32[2])",
    "f(Cfg.make('a')(1), 1)",
    "f(torch.nn.Linear(4, 4)(float32[2]), 1)",
    # attributes of what others see
    "f((m := Net(1), setattr(m, 'spawn', spawn), m.spawn(['touch', 'x']))[0], 1)",
    "f((m := torch.nn, setattr(m, 'Identity', spawn))[0], torch.nn.Identity(['touch', 'x']))",
    "f((Net := Cfg.make('a'), setattr(Net, 'x', 1))[0], 1)",
    "f((m := Net(1), setattr(torch.nn, 'Identity', f))[0], 1)",
    "f((m := torch.nn.Identity(), m.register_forward_pre_hook(f))[0], 1)",
    "f((m := torch.nn.Identity(), setattr(m, '__class__', Net))[0], 1)",
    "f((m := 1, 2)[0], 1)",
    # functions of packages, also without arguments, and classes that the file does not name
    "f(setuptools.setup(), 1)",
    "f(setuptools._distutils.core.run_setup(), 1)",
    "f(numpy.f2py.main(), 1)",
    "f(np.lib.npyio.DataSource('x'), 1)",
    "f(K.lib.npyio.DataSource('x'), 1)",
    "f(K.asarray, 1)",
    "f(numpy.savetxt, 1)",
    "f(spawn, 1)",
    "f(_open_file, 1)",
    "f(torch.save, 1)",
    "f(torch.hub, 1)",
    "f(torch.nn.parallel.parallel_apply.threading.Thread(target=f), 1)",
    "f(torch.nn.Module.register_module(1), 2)",
    # what a class of a package gets
    "f(Tape('/home/me/.bashrc'), 1)",
    "f(Tape('../x'), 1)",
    "f(Tape('https://evil.example'), 1)",
    "f(Tape(b'x'), 1)",
    # functions of the project that reach out, also by another file or a method of every object
    "f(remove_all(), 1)",
    "f(Net(1).copy('x'), 1)",
    "Heir(1).wipe('/x')",
    "f(Saver('x'), 1)",
    "purge('/x')",
    "purge(Net)",
    "purge()",
    "remove_all()",
    "remove_all(float32[2])",
    "Saver('/x')",
    # modules that running would do something, or that are none of the project
    "f(setup.Wipe(), 1)",
    "f(antigravity.Thing(), 1)",
    "f(os.path, 1)",
    # forms that nothing of ours has
    "f(**{'x': 1})",
    "f(*range(3))",
    "f(x := 1, 2)",
    "f(__debug__, 1)",
    "f(__class__=1)",
    "f((m := Net(1), m)[0], 1)",
    "f((m := Net(1), setattr(m, 'x', 1))[1], 1)",
    "f(Net(1)[0], 1)",
    "f(f(1, 2)['a'], 1)",
    "f(float32[-1], 1)",
    "f(float32[2] < 'x', 1)",
    "f((yield), 1)",
    "f(1 if purge else 2, 1)",
    "f(torch.__loader__, 1)",
]


@pytest.mark.parametrize("call", FORGED)
def test_it_is_not_offered(call: str, files: ProjectFiles) -> None:
    for known in (files, None):
        assert written_call(FILE, call, known) is None
        assert as_comment(FILE, call, known) is None
        assert as_functions(FILE, call, files=known) is None


@pytest.mark.parametrize(
    "call",
    [
        "Net(Part(code='a/b'))(x=float32[2])",
        "Net(make_part(width=4)).eval()(x=float32[2])",
        "Net(package.parts.make_part())(float32[2])",
        "make_part().get_submodule('a')(float32[2])",
        "package.other.Other()(float32[2])",
        "Heir(code=4).run(float32[2])",
        "(m := Heir(4), m.run(x=1))[0](float32[2])",
        "Net(KNOWN['small'])(float32[2])",
        "Net(package.parts.SIZES['small'])(float32[2])",
        "Net(package.parts.Log())(float32[2])",
        "Net(LlamaConfig(layers=2, act='gelu'))(float32[2])",
        "Net(Tape('bert-base-uncased', 0.5))(float32[2])",
        "Saver('plain')",
    ],
)
def test_what_stands_in_the_project_is(call: str, files: ProjectFiles) -> None:
    assert written_call(FILE, call, files) is not None


class _Recorded:
    """Anything: what is called of it is written down by its name."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self._name, self._calls = name, calls

    def __getattr__(self, name: str) -> _Recorded:
        return _Recorded(f"{self._name}.{name}", self._calls)

    def __call__(self, *args: Any, **named: Any) -> _Recorded:
        self._calls.append(self._name)
        return _Recorded(f"{self._name}()", self._calls)

    def __getitem__(self, _: Any) -> _Recorded:
        return _Recorded(f"{self._name}[]", self._calls)

    def __lt__(self, _: Any) -> _Recorded:
        return self

    def __neg__(self) -> _Recorded:
        return self

    def __add__(self, _: Any) -> _Recorded:
        return self

    __mul__ = __radd__ = __rmul__ = __add__


NAMES = ("Net", "Cfg", "Cfg.make", "Part", "f", "m", "torch", "torch.nn", "torch.nn.Identity", "torch.save", "os.system", "spawn", "Tape",
         "numpy.savetxt", "SIZES", "K", "K.load", "setattr", "setuptools.setup", "exec", "purge", "float32",
         "types.SimpleNamespace")  # fmt: skip
METHOD = f"(?:{'|'.join(sorted(METHODS))}|setup_caches|forward)"
OBJECT = rf"(?:Net|Cfg|Cfg\.make|f|Tape|torch\.nn\.Identity|types\.SimpleNamespace)\(\)(?:\.{METHOD}\(\))*"
# `purge` may be the target, with a tensor
ALLOWED = re.compile(
    rf"(?:Net|Cfg|Cfg\.make|f|purge|Tape|setattr|torch\.nn\.Identity|types\.SimpleNamespace|{OBJECT}|{OBJECT}\.{METHOD}"
    r"|(?:Net|Cfg)\.(?:apply|forward))"
)


def _joined(form: str) -> Callable[..., str]:
    return lambda *parts: form.format(*parts)


def _texts() -> st.SearchStrategy[str]:
    leaves = st.sampled_from([*NAMES, "1", "'x'", "'/x'", "None", "float32[2]", "{}", RETURNS_FIRST])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(_joined("{}({})"), inner, inner),
            st.builds(_joined("({})({}, {})"), inner, inner, inner),
            st.builds(_joined("{}(x={})"), inner, inner),
            st.builds(
                _joined("{}.{}"), inner, st.sampled_from(["eval", "make", "spawn", "forward", "__class__", "system"])
            ),
            st.builds(_joined("[{}][0]"), inner),
            st.builds(_joined("{{'a': {}}}['a']"), inner),
            st.builds(_joined("(m := {}, setattr(m, 'x', {}))[0]"), inner, inner),
            st.builds(
                _joined("(m := {}, m.{}({}))[0]"),
                inner,
                st.sampled_from(["eval", "spawn", "setup_caches", "save"]),
                inner,
            ),
            st.builds(_joined("(lambda *inputs: {}.apply(*inputs))"), inner),
            st.builds(_joined("*{}"), inner),
            st.builds(_joined("{} + {}"), inner, inner),
        ),
        max_leaves=8,
    )


@settings(deadline=None, derandomize=True, max_examples=600)
@given(st.sampled_from(["f({}, 1)", "Net({})(float32[2])", "{}"]), _texts())
def test_whatever_is_written_calls_nothing_else(form: str, inner: str) -> None:
    text = form.replace("{}", inner)
    if written_call(FILE, text) is None:
        return
    calls: list[str] = []
    roots = {name.partition(".")[0]: _Recorded(name.partition(".")[0], calls) for name in NAMES}
    scope = {**roots, "__builtins__": {}}
    with contextlib.suppress(TypeError):  # a number and a text
        eval(compile(ast.parse(text, mode="eval"), "x", "eval"), scope)
    assert [name for name in calls if ALLOWED.fullmatch(name) is None and name not in MAKERS] == []


@pytest.mark.parametrize("name", ["list", "setattr", "type"])
def test_a_name_that_the_file_gives_away_is_no_maker(name: str) -> None:
    call = {
        "list": "Net(list('code'))(float32[2, 8])",
        "setattr": "(m := Net(8), setattr(m, 'a', 1))[0](float32[2, 8])",
        "type": "Net(type('Model', (torch.nn.Module,), {'forward': lambda self, *args, **named: "
        "[*args, *named.values()][0]})())(float32[2, 8])",
    }[name]
    source = "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    assert written_call(parse(source), call) is not None
    assert written_call(parse(f"{name} = exec\n{source}"), call) is None
