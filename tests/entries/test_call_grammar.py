"""What of the calls that a program says may be written into a file."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.entries.call_grammar import RETURNS_FIRST, written_call
from compile_lens.entries.keep_inputs import as_comment, as_functions
from compile_lens.syntax.tree import parse

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

FILE = parse("""import os
import subprocess
from os import system as s, path

import torch
from torch import nn
from transformers import LlamaConfig
from package.build import build_model

SIZES = {"small": 8}
hidden = os.remove


class Config:
    def __init__(self, width=4): ...

    @classmethod
    def from_name(cls, name): ...


class Saver:
    def __init__(self, path):
        open(path, "w")


class Net(nn.Module):
    def __init__(self, width): ...

    def forward(self, x): ...

    def encode(self, x): ...

    def setup_caches(self, size): ...

    def export(self, path):
        os.remove(path)


def f(x, n): ...


def purge(where):
    os.system(where)


def to_be_kept(x, where="log"):
    os.makedirs(where)
""")


@pytest.mark.parametrize(
    "call",
    [
        "Net(width=4)(x=float32[2, 4])",
        "Net(4).encode(float32[2, 4])",
        "Net(width=SIZES['small'] * 2)((float32[2, 4] < 1).requires_grad_())",
        "Net(width=Config(width=4))(x=[float32[2], {'a': int64[2, 3] < 1000}], y=(int64[()] == 1,))",
        "Net(Config.from_name('small')).eval()(float16[2])",
        "Net(LlamaConfig(num_layers=-1, act='gelu'))(x=None, flag=True)",
        "(m := Net(4), m.setup_caches(size=64))[0](float32[2, 4])",
        "Net((m := torch.nn.Identity(), setattr(m, 'x', 2))[0])(x=types.SimpleNamespace(pos=float32[2, 3]))",
        "Net(nn.Linear(4, 4), torch.relu, torch.float16, torch.device('cpu'))(PIL.Image.new('RGB', (64, 64)))",
        "Net(argparse.Namespace(width=4))(float32[2])",
        "Net(float, nn.GELU)(*[float32[2], float32[3]])",
        "f(float32[2, 3], 1e-05)",
        "to_be_kept(x=float32[2])",
        "Net(width=f(float32[2], 3))(float32[2])",
        "Net(lambda *args, **named: [*args, *named.values()][0])(x=float32[2, 4])",
        "(lambda *inputs: Net.apply(*inputs))(float32[2, 4])",
    ],
)
def test_calls_that_only_make_what_they_need_are_written(call: str) -> None:
    assert written_call(FILE, call) is not None


@pytest.mark.parametrize(
    "call",
    [
        "Net(width=4 + 0 * __import__('os').system('touch x'))(x=float32[2, 4])",
        "Other(table=__import__('os').system('touch x'))",
        "Net(width=os.system('x'))(float32[2])",
        "Net(width=os.path.join('a', 'b'))(float32[2])",
        "Net(width=s('x'))(float32[2])",
        "Net(width=path.join('a'))(float32[2])",
        "Net(width=hidden('x'))(float32[2])",
        "Net(width=hidden)(float32[2])",
        "Net(width=os.system)(float32[2])",
        "Net(width=subprocess.Popen('x'))(float32[2])",
        "Net(width=eval('x'))(float32[2])",
        "Net(width=exec)(float32[2])",
        "Net(width=open('x', 'w'))(float32[2])",
        "Net(width=purge('x'))(float32[2])",
        "Net(width=purge)(float32[2])",
        "Net(Saver('x'))(float32[2])",
        "Net(Net(4).export('x'))(float32[2])",
        "Net((m := Net(4), m.export('x'))[0])(float32[2])",
        "(m := Net(4), os.system('x'))[0](float32[2])",
        "(m := Net(4), setattr(m, '__class__', 3))[0](float32[2])",
        "(m := Net(4), setattr(Net, 'forward', purge))[0](float32[2])",
        "Net(build_model('x'))(float32[2])",
        "Net(build_model())(float32[2])",
        "Net(torch.load('x'))(float32[2])",
        "Net(torch.hub.load('a/b', 'c'))(float32[2])",
        "Net(torch.package.PackageImporter('x'))(float32[2])",
        "Net(torch.ones(2).numpy().tofile('x'))(float32[2])",
        "Net(torch.ops.load_library('x'))(float32[2])",
        "Net(lambda: 0)(float32[2])",
        "Net([n for n in (1, 2)])(float32[2])",
        "Net(f'{purge(1)}')(float32[2])",
        "Net(4 if purge('x') else 3)(float32[2])",
        "Net(purge('x') or 3)(float32[2])",
        "Net(SIZES[purge('x')])(float32[2])",
        "Net(float32[purge('x')])(float32[2])",
        "Net(x=float32[2] < purge('x'))(float32[2])",
        "Net((y := purge('x')))(float32[2])",
        "Net(**{'width': purge('x')})(float32[2])",
        "Net().__class__.__base__.__subclasses__()[0]('x')",
        "Net(4).forward.__globals__['os'].system('x')",
        "Net(4)(x=Net.__init__.__globals__)",
        "os.system('x')",
        "system('x')",
        "Net(system)(float32[2])",
        "f(x)\nimport os",
        "x.py",
        "float32[2]",
        "-" * 5_000 + "1",
        "Net(lambda *args: print(args))(x=float32[2, 4])",
        "Net(lambda *args, **named: [*args, s('ls')][0])(x=float32[2, 4])",
        "(lambda *inputs: Net.apply(*inputs, s('ls')))(float32[2, 4])",
        "(lambda *inputs, more=s('ls'): Net.apply(*inputs))(float32[2, 4])",
        "(lambda *inputs: os.apply(*inputs))(float32[2, 4])",
        "Net(LlamaConfig('f(1)'))(x=float32[2, 4])",
        "Net(LlamaConfig('__import__'))(x=float32[2, 4])",
        "Net(LlamaConfig('{{ x }}'))(x=float32[2, 4])",
    ],
)
def test_what_does_anything_else_is_not(call: str) -> None:
    assert written_call(FILE, call) is None
    assert as_comment(FILE, call) is None
    assert as_functions(FILE, call) is None


def test_what_the_search_makes_up_is_written() -> None:
    guesses, values = (
        agent_module("inputs.synthesis.source.guesses"),
        agent_module("inputs.synthesis.changes.other_values"),
    )
    assert values.ANY_FUNCTION == RETURNS_FIRST
    made_up = [value for name, value in vars(values).items() if name.startswith("ANY_")]
    made_up += [text for table in (guesses.MAKERS, guesses.CLASS_MAKERS, guesses.TABLES) for _, text in table]
    assert [text for text in made_up if written_call(FILE, f"Net({text})(x=float32[2, 4])") is None] == []
