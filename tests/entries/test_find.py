"""Which entries a source has, in which order, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.sources import KERNELS, MODEL, REGION

from compile_lens.agent.runtime.entry_plans import CompileAt, ExampleInputs, WrittenCall
from compile_lens.entries.entry_comment import entry_comment
from compile_lens.entries.entry_spec import BadEntry, read_entry
from compile_lens.entries.find import find_entries
from compile_lens.entries.importers import WorkspaceFile, find_importers
from compile_lens.entries.scripts import does_something
from compile_lens.entries.targets import candidates, find_targets
from compile_lens.syntax.tree import parse


def specs(source: str) -> list[str]:
    return [entry.spec for entry in find_entries(parse(source))]


def test_the_documented_order() -> None:
    source = REGION + "def get_inputs():\n    return [torch.ones(3), 2]\nscale(*get_inputs())\n"
    assert specs(source) == ["get_inputs", "doctest:scale", "script", "model", "synthesized"]


def test_a_file_of_definitions_is_no_script() -> None:
    assert specs(MODEL) == ["synthesized"]
    assert specs(KERNELS) == ["get_inputs", "synthesized"]


@pytest.mark.parametrize(
    "line",
    [
        "if __name__ == '__main__':\n    pass",
        "net = Net()\nnet(x)",
        "y = Net()(x)",
        "for _ in range(3): pass",
        "g = torch.compile(print)",
        "try:\n    Net()\nexcept ValueError:\n    pass",
        "with torch.no_grad():\n    pass",
        "def f(x):\n    return x\nys = list(map(f, [1]))",
        "def f(x):\n    return x\natexit.register(f, 1)",
        "net = Net()\ntimeit.timeit(lambda: net(1), number=1)",
    ],
)
def test_what_makes_a_file_a_script(line: str) -> None:
    assert does_something(parse(f"import torch\nclass Net:\n    pass\n{line}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "log = logging.getLogger(__name__)",
        "SIZES = [1, 2]",
        "T = TypeVar('T', bound=Net)",
        "if sys.version_info > (3, 11):\n    x = 1",
        "ACTIVATIONS = {'relu': Net}",
        "try:\n    import triton\nexcept ImportError:\n    triton = None",
        "'a docstring'",
    ],
)
def test_what_does_not(line: str) -> None:
    assert not does_something(parse(f"import torch, logging\nclass Net:\n    pass\n{line}\n"))


def test_there_is_always_an_entry() -> None:
    for source in ("", "x = 1\n", "def f(:\n", "# only a comment"):
        assert specs(source) == ["script"]


def test_the_outermost_module_is_the_first_target() -> None:
    targets = find_targets(parse(MODEL))
    assert [target.name for target in targets] == ["Block", "Attention"]


def test_regions_are_the_only_targets_of_a_file_that_has_them() -> None:
    source = MODEL + "def main():\n    net = torch.compile(Attention(64, heads=4), fullgraph=True)\n    return net\n"
    (target,) = find_targets(parse(source))
    assert (target.name, target.compile_line, target.fullgraph) == ("Attention", 32, True)
    assert target.given == {"dim": "64", "heads": "4"}
    (decorated,) = find_targets(parse(REGION))
    assert (decorated.name, decorated.compile_line) == ("scale", None)


def test_functions_that_do_something_to_the_world_are_never_called() -> None:
    source = (
        "import os, shutil, torch\n"
        "def remove(x: torch.Tensor, path):\n    shutil.rmtree(path)\n    return torch.sin(x)\n"
        "def harmless(x):\n    return torch.sin(x)\n"
        "def report(x):\n    open('a', 'w').write(str(torch.sin(x)))\n"
    )
    assert [target.name for target in find_targets(parse(source))] == ["harmless"]


def test_what_is_passed_in_is_no_way_to_the_world() -> None:
    source = (
        "import torch\n"
        "def window(signal: torch.Tensor, input):\n    return torch.sin(signal) + input\n"
        "def listed(x: torch.Tensor, os):\n    import os\n    return x + len(os.listdir())\n"
        "def nested(x: torch.Tensor, os):\n    def inner():\n        global os\n        os.sync()\n    return inner() or x\n"
        "def by_default(x: torch.Tensor, os=os):\n    return os.sync() or x\n"
    )
    assert [target.name for target in find_targets(parse(source))] == ["window"]


DEEP = 200


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("y = " + "(" * DEEP + "os.remove(path)" + ")" * DEEP, id="brackets"),
        pytest.param("y = " + "str(" * DEEP + "os.remove(path)" + ")" * DEEP, id="calls"),
        pytest.param("os.remove(path)" + ".real" * DEEP, id="attributes"),
        pytest.param("y = os.remove(path)" + " or 1" * DEEP, id="operators"),
        pytest.param("".join(" " * n + "if x:\n    " for n in range(90)) + " " * 90 + "os.remove(path)", id="blocks"),
        # to Python, the same names
        pytest.param("\uff4f\uff53.fork(path)", id="wide letters"),
        pytest.param("\U0001d48e\U0001d48c\U0001d485\U0001d48a\U0001d493(path)", id="bold letters"),
    ],
)
def test_what_a_function_does_to_the_world_cannot_be_hidden(statement: str) -> None:
    source = f"import torch\ndef scale(x: torch.Tensor, path):\n    {statement}\n    return torch.sin(x)\n"
    assert not find_targets(parse(source))
    assert not candidates(parse(source))


@pytest.mark.parametrize(
    ("above", "statement"),
    [
        ("from os import remove as r", "r(path)"),
        ("from os import truncate", "truncate(path, 0)"),
        ("import shutil as s", "s.copy(path, path)"),
        ("from subprocess import run", "run(path)"),
        ("from pathlib import Path as P\nQ = P", "Q(path).touch()"),
        ("import os\nR = os.remove", "R(path)"),
        ("import os\nR, S = os.remove, os.sync", "S()"),
        ("import os\nD = {'r': os.remove}", "D['r'](path)"),
        ("import os\nR = lambda path: os.unlink(path)", "R(path)"),
        ("try:\n    R = open\nexcept NameError:\n    R = None", "R(path)"),
        ("import importlib", "importlib.import_module('o' + 's').remove(path)"),
        ("import builtins", "getattr(builtins, 'op' + 'en')(path)"),
        ("import io", "io.FileIO(path, 'w')"),
        ("", "x.numpy().tofile(path)"),
        ("import socket as k\nm = k", "m.create_server(path)"),
        ("from os import *", "rename(path, path)"),
        ("from os import *\nR = truncate", "R(path, 0)"),
        ("from shutil import *", "copytree(path, path)"),
        ("if True:\n    from subprocess import *", "check_call(path)"),
    ],
)
def test_other_names_do_not_hide_what_a_function_does_to_the_world(above: str, statement: str) -> None:
    source = f"import torch\n{above}\ndef scale(x: torch.Tensor, path):\n    {statement}\n    return torch.sin(x)\n"
    assert not find_targets(parse(source))
    assert not candidates(parse(source))


def test_what_a_call_gave_is_not_what_was_called() -> None:
    source = (
        "import os, json, torch\nRANK = os.environ['RANK']\nSIZES = json.loads('[1]')\nSIZE = int(os.environ.get('S', 1))\n"
        "def first(input): y = input\ndef scale(x: torch.Tensor, y):\n    return x * RANK * SIZE + len(SIZES)\n"
    )
    assert [target.name for target in find_targets(parse(source))] == ["scale"]


def test_candidates_are_what_is_not_compiled_yet() -> None:
    source = MODEL + "other = torch.compile(Attention(64, 4))\n\n\ndef loss(x, y):\n    return torch.dist(x, y)\n"
    assert [target.name for target in candidates(parse(source))] == ["Block", "loss"]


def test_the_comment() -> None:
    assert entry_comment(parse("x = 1\n# compile-lens: entry = Block(dim=8)(float32[2, 8])\n")) == (
        "Block(dim=8)(float32[2, 8])",
        2,
    )
    assert entry_comment(parse("s = '# compile-lens: entry=script'\n# compile-lens: ignore[GB0001]\n")) is None


def test_what_a_user_can_write(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_m.py").touch()
    file = str(tmp_path / "model.py")
    tree = parse(MODEL)
    for spec, kind in {
        "script": "script",
        "synthesized": "synthesized",
        "synthesized:Attention": "synthesized",
        "synthesized:Attention.forward": "synthesized",
        "doctest:Block": "doctest",
        "tests/test_m.py": "file",
        "tests/test_m.py::TestM::test_it": "test",
        "Block(dim=8, heads=2)(float32[2, 3, 8])": "call",
    }.items():
        assert read_entry(spec, "", file, tree, ()).kind.value == kind
    kept = read_entry("get_inputs()", "", file, parse(KERNELS), find_entries(parse(KERNELS)))
    assert isinstance(kept.plan, ExampleInputs)
    assert kept.plan.target == "Model"
    for wrong in ("get_inputs", "synthesized:Nobody", "nowhere.py::test", "4 + 5", ""):
        with pytest.raises(BadEntry):
            read_entry(wrong, "", file, tree, ())


def test_a_written_call_is_compiled_where_the_file_would() -> None:
    plan = read_entry("Block(8, 2)(float32[1, 2, 8])", "", "model.py", parse(MODEL), ()).plan
    assert plan == WrittenCall("Block(8, 2)(float32[1, 2, 8])", CompileAt(20))
    own = read_entry("scale(float32[3], 2)", "", "model.py", parse(REGION), ()).plan
    assert own == WrittenCall("scale(float32[3], 2)")


OTHERS = {
    "tests/test_model.py": (
        "import pytest\nfrom pkg.model import Block\n\ndef make():\n    return Block(8, 2)\n\n"
        "def test_direct():\n    Block(8, 2)\n\ndef test_by_helper():\n    make()\n\ndef test_other():\n    pass\n\n"
        "class TestBlock:\n    def test_method(self):\n        Block(1, 1)\n\nclass Helper:\n    def test_no(self):\n        Block\n"
    ),
    "scripts/train.py": "import pkg.model as m\nnet = m.Block(32, 4)\nif __name__ == '__main__':\n    net(1)\n",
    "pkg/other.py": "from .model import Block\n\nclass Wide(Block):\n    pass\n",
    "tests/test_elsewhere.py": "from elsewhere.model import Block\n\ndef test_it():\n    Block()\n",
    "pkg/__init__.py": "",
    "tests/test_package.py": "import pkg\nfrom pkg import Block\n\ndef test_exported():\n    Block(2, 1)\n",
}


def test_tests_and_scripts_that_reach_the_file(tmp_path: Path) -> None:
    file = str(tmp_path / "pkg" / "model.py")
    others = [WorkspaceFile(str(tmp_path / name), parse(text)) for name, text in OTHERS.items()]
    found = find_importers(file, str(tmp_path), others, find_targets(parse(MODEL)))
    assert [entry.spec for entry in found] == [
        "tests/test_model.py::test_direct",
        "tests/test_model.py::test_by_helper",
        "tests/test_model.py::TestBlock::test_method",
        "scripts/train.py",
    ]
    exported = find_importers(file, str(tmp_path), others[-1:], find_targets(parse(MODEL)))
    assert [entry.spec for entry in exported] == ["tests/test_package.py::test_exported"]


def test_a_class_that_may_inherit_forward_is_called_last() -> None:
    text = (
        "from torch import nn\nfrom .interfaces import BilinearModel\nfrom .data import Table\n\n\n"
        "class Complex(BilinearModel):\n    def score(self, h, t):\n        return h * t\n\n\n"
        "class Rows(Table):\n    def rows(self):\n        return 1\n\n\n"
        "class Whole(nn.Module):\n    def forward(self, x):\n        return x\n"
    )
    assert [(t.name, t.only_module) for t in find_targets(parse(text))] == [("Whole", False), ("Complex", True)]
    # without torch, a `BaseModel` is none of its modules
    assert not find_targets(
        parse("from pydantic import BaseModel\n\n\nclass Settings(BaseModel):\n    size: int = 1\n")
    )


@pytest.mark.parametrize(
    ("line", "is_found"), [("model.eval()", True), ("eval('1')", False), ("model.eval(); eval('1')", False)]
)
def test_a_model_that_is_switched_to_eval_mode_is_not_code_that_is_evaluated(line: str, is_found: bool) -> None:
    source = f"import torch\n\n\ndef score(model: torch.nn.Module, x: torch.Tensor):\n    {line}\n    return model(x)\n"
    assert ("score" in [target.name for target in find_targets(parse(source))]) is is_found
