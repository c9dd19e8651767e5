"""What a program may forge of its calls for a repro: a script of ours has no code that does not stand in the user's files."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compile_lens.repro.capture import CapturedCall, CapturedRegion
from compile_lens.repro.checked import checked
from compile_lens.repro.contract import Criterion
from compile_lens.repro.expectation import Expectation
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.own_files import OwnFiles
from compile_lens.repro.source import write_source

MAIN = '''\
# exec as f0
import os
import numpy
import torch
from torch import nn
from library import Tool
from part import half as h

A = """
"""; B = """
os.system("x")
"""
SIZE = 4


class Config:
    def __init__(self, width): ...


class Saver:
    run = os.getlogin

    def __init__(self, where):
        open(where, "w")


class Heir(Saver): ...


class Net(nn.Module):
    def __init__(self, config, act):
        super().__init__()

    def forward(self, x, scale):
        return h(x) * SIZE


def register_all():
    os.system("x")


os.system("x")
torch.library.define("my::op", "() -> ()")
torch.nn.Bilinear = Net

if __name__ == "__main__":
    model = torch.compile(Net(Config(4), nn.GELU()))
    os.remove("x")
'''
PART = "def half(x):\n    return x / 2\n"
NET = MAIN[MAIN.index("class Net") : MAIN.index("\n\n\ndef register_all")]
CONFIG = "class Config:\n    def __init__(self, width): ..."
SAVER = MAIN[MAIN.index("class Saver") : MAIN.index("\n\n\nclass Heir")]
STATE = {
    "default_dtype": "torch.float32", "autocast": [["cpu", "torch.bfloat16"]], "matmul_precision": "high", "grad": True,
    "inference": False, "deterministic": False,
}  # fmt: skip


NUMBERS = itertools.count(10)


def name(text: str, module: str = "") -> dict[str, Any]:
    return {"is": "name", "name": text, **({"import": module} if module else {})}


def call(of: dict[str, Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"is": "call", "of": of, "args": list(args), "kwargs": kwargs}


def tensor(**values: Any) -> dict[str, Any]:
    form = {"shape": [2], "stride": [1], "offset": 0, "dtype": "torch.float32", "device": "cpu", "requires_grad": False}
    return {
        "is": "tensor",
        "id": next(NUMBERS),
        **form,
        "parameter": False,
        "values": values or {"mean": 0.0, "std": 1.0},
    }


MODULE = {
    "is": "module", "id": 1, "of": name("Net"), "args": [], "kwargs": {"config": call(name("Config"), 4),
    "act": name("torch.relu", "torch")},
    "training": True, "modes": {"inner": False}, "frozen": ["w"], "parameters": 2, "dtypes": ["torch.float16"], "devices": ["cpu"],
    "replaced": {"act": call(name("torch.nn.GELU", "torch.nn"))}, "state": "",
}  # fmt: skip
ARGUMENTS = [
    tensor(), tensor(fill="float('inf')"), tensor(arange=[0, 2]), tensor(list="[1.0, -2.5]"), tensor(tril=[0, "True", "False"]),
    tensor(low=0, high=9), {"is": "code", "code": "slice(0, 1)"}, {"is": "numpy", "scalar": True, "dtype": "float32", "value": "1.5"},
    {"is": "numpy", "scalar": False, "dtype": "int64", "value": None, "shape": "(300,)"},
    {"is": "object", "id": 9, "of": name("Config"), "attributes": {"width": 4}}, {"is": "list", "items": [1, "text"]},
    {"is": "dict", "items": [["a", {"is": "device", "device": "cpu"}]]},
    {"is": "attribute", "of": copy.deepcopy(MODULE), "name": "forward"}, {"is": "tuple", "items": [None, {"is": "ellipsis"}]},
]  # fmt: skip
DESCRIBED: dict[str, Any] = {
    "target": MODULE,
    "options": {"mode": "default", "fullgraph": None, "isolate_recompiles": False,
                "options": {"is": "dict", "items": [["max_autotune", True]]}, "backend": "eager"},
    "config": ["torch._dynamo.config.cache_size_limit = 2"],
    "state": STATE,
    "files": [
        {"module": "part", "file": "part.py", "future": False, "imports": [], "items": [{"line": 1, "text": PART.rstrip()}], "locals": []},
        {
            "module": "__main__", "file": "m.py", "future": False, "imports": ["import os", "import torch", "from torch import nn"],
            "items": [
                {"line": 6, "text": "h = half"}, {"line": 13, "text": "SIZE = 4"}, {"line": 14, "text": CONFIG},
                {"line": 18, "text": SAVER},
                {"line": 20, "text": NET},
                {"line": 30, "name": "model", "value": {"is": "list", "items": [1]}},
            ],
            "locals": [],
        },
    ],
    "patches": [{"owner": {"is": "python-module", "name": "torch.nn"}, "name": "Bilinear", "value": name("Net")}],
    "call": {"args": ARGUMENTS, "kwargs": {"scale": 2}, "globals": {"SIZE": 4}, "attributes": {"training": True}},
    "later": {"args": ARGUMENTS[:1], "kwargs": {"scale": 3}, "globals": {"SIZE": 5}, "attributes": {"training": False}},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forged") / "program"
    folder.mkdir()
    for file, text in {"m.py": MAIN, "part.py": PART, "setup.py": "", "test_m.py": "import m\n"}.items():
        (folder / file).write_text(text)
    return folder


def script_of(described: dict[str, Any], folder: Path) -> str:
    """The script that is written of a description. Raises CannotWrite."""
    told = described["files"]
    files = tuple({**file, "file": str(folder / file["file"])} if isinstance(file, dict) and isinstance(file.get("file"), str) else file
                  for file in told) if isinstance(told, list) else told  # fmt: skip
    calls = tuple(
        CapturedCall(tuple(each["args"]), each["kwargs"], each["globals"], each["attributes"])
        for each in (described["call"], described["later"])
    )
    region = CapturedRegion(
        1, described["target"], described["options"], tuple(described["config"]), described["state"], files, calls,
        patches=tuple(described["patches"]), uses_random=True,
    )  # fmt: skip
    region, calls = checked(region, calls, OwnFiles(folder / "m.py", None, folder))
    return write_source(region, calls, Expectation(Criterion.ANY, "any")).body


def with_argument(value: Any) -> dict[str, Any]:
    described = copy.deepcopy(DESCRIBED)
    described["call"]["args"] = [value, value]
    return described


def with_item(*items: dict[str, Any], **file: Any) -> dict[str, Any]:
    described = copy.deepcopy(DESCRIBED)
    main = described["files"][1]
    main.update(file)
    main["items"] = [*main["items"], *items]
    return described


def with_field(field: str, value: Any) -> dict[str, Any]:
    return {**copy.deepcopy(DESCRIBED), field: value}


def test_what_a_run_says_truly_is_written(folder: Path) -> None:
    text = script_of(DESCRIBED, folder)
    assert "torch.nn.Bilinear = Net" in text
    assert "COMPILE_OPTIONS = {'mode': 'default', 'options'" in text
    assert "Net(config=Config(4), act=torch.relu).to(torch.float16)" in text
    assert "torch.arange(0, 4, 2, dtype=torch.float32)" in text
    compile(text, "script", "exec")


def test_a_module_of_a_library_may_have_the_name_of_one_of_pythons(folder: Path) -> None:
    """Also of one without source: `math` and `array` are compiled."""
    for module in ("library.types", "library.math", "library.array.core", "library.random.own"):
        described = with_argument(call(name(f"{module}.Law", module), 2))
        assert f"{module}.Law(2)" in script_of(described, folder).replace("\n", "")


TEXT = '"""; B = """\nos.system("x")\n"""'


@pytest.mark.parametrize(
    "described",
    [
        pytest.param(with_argument(told), id=id_)
        for id_, told in {
            "scalar": {"is": "numpy", "scalar": True, "dtype": "savetxt", "value": "'x', ['y'], '%s'"},
            "values of an array": {"is": "numpy", "scalar": False, "dtype": "int64", "value": "open('x')"},
            "name without import": call(name("os.system"), "touch x"),
            "value without import": name("os.system"),
            "builtin": call(name("exec"), "x"),
            "arange": tensor(arange=["torch.save", "(1, 'x')"]),
            "triangle": tensor(tril=["0).save(", "True", "False"]),
            "chance": tensor(chance="torch.save(1, 'x')"),
            "bounds": tensor(low="0), torch.save(1, 'x'", high=2),
            "dtype": {**tensor(), "dtype": "torch.save"},
            "module of nobody": {"is": "python-module", "name": "setup"},
            "module of Python": {"is": "python-module", "name": "this"},
            "number of an object": {"is": "list", "id": "x = os.system('x'); y", "items": []},
            "function of a package": name("torch.save", "torch"),
            "function that the file names": name("os.system", "os"),
            "call of one": call(name("torch.hub.load", "torch.hub"), "x"),
            "method of a module": {"is": "attribute", "of": {"is": "python-module", "name": "os"}, "name": "system"},
            "method of a class": {"is": "attribute", "of": call(name("pathlib.Path", "pathlib"), "x"), "name": "unlink"},
            "method of a part": {
                "is": "attribute",
                "of": {"is": "attribute", "of": call(name("pathlib.Path", "pathlib"), "x"), "name": "parent"},
                "name": "rmdir",
            },
            "method of a tensor": {"is": "attribute", "of": tensor(), "name": "tofile"},
            "attribute of a class": call(name("Saver.run"), "x"),
            "function of the file": call(name("register_all")),
            "class with a path": call(name("Saver"), "/home/me/.bashrc"),
            "class with bytes": call(name("Tool", "library"), {"is": "code", "code": "'../x'"}),
            "class of a package": call(name("library.Tool", "library"), "/x"),
            "text that a class evaluates": call(name("library.Law", "library"), "__import__('os').system('x')"),
            "text that a class calls": call(name("library.Law", "library"), "f(1)"),
            "template": {"is": "attribute", "of": call(name("library.Law", "library"), "a{{ x }}"), "name": "render"},
            "class that nobody imports": call(name("setuptools.Command", "setuptools"), 1),
            "code of a module that a library imports": call(name("numpy._core.fromnumeric.types.CodeType", "numpy._core.fromnumeric"), 1),
            "function of such code": call(name("numpy.lib._utils_impl.t.LambdaType", "numpy.lib._utils_impl"), 1),
            "runner of tests": call(name("numpy.testing._private.utils.unittest.TestProgram", "numpy.testing._private.utils")),
            "class of a module of Python": call(name("numpy.x._thread.RLock", "numpy.x")),
            "object that deletes": {
                "is": "object",
                "id": 3,
                "of": name("numpy.lib.npyio.DataSource", "numpy.lib.npyio"),
                "attributes": {"_istmpdest": True, "_destpath": "src"},
            },
            "object with a path": {"is": "object", "id": 3, "of": name("Saver"), "attributes": {"where": "/home/me"}},
            "heir with a path": call(name("Heir"), "/home/me/.bashrc"),
            "what is no description": {"is": "write", "x": 1},
            "what makes descriptions": {"is": "values", "x": 1},
            "deep": {"is": "begin"},
            "saved elsewhere": tensor(file="../../x"),
        }.items()
    ]
    + [
        pytest.param(told, id=id_)
        for id_, told in {
            "alias of a comment": with_item({"line": 1, "text": "f0 = exec"}),
            "alias of what is not there": with_item({"line": 6, "text": "h = third"}),
            "lines of a text": with_item({"line": 9, "text": TEXT}),
            "line of a text": with_item({"line": 10, "text": 'os.system("x")\n"""'}),
            "statement that binds nothing": with_item({"line": 35, "text": 'os.system("x")'}),
            "statement of the script's part": with_item({"line": 40, "text": 'os.remove("x")'}),
            "body of a function": with_item({"line": 33, "text": 'os.system("x")\n'}),
            "two statements": with_item({"line": 1, "text": "SIZE = 4\n\n\n" + CONFIG}),
            "name that is code": with_item({"line": 1, "name": "a = 1; b", "value": 1}),
            "name of Python": with_item({"line": 1, "name": "isinstance", "value": name("Net")}),
            "import of nobody": with_item(imports=["import setup"]),
            "import with another name": with_item(imports=["from os import system as nn"]),
            "import and more": with_item(imports=["import os; os.system('x')"]),
            "import of a test": with_item(imports=["import test_m"]),
            "local with another name": with_item(locals=[{"name": "torch", "text": CONFIG, "free": {}}]),
            "lambda": with_item(locals=[{"name": "isinstance", "text": "isinstance = lambda: 1", "free": {}}]),
            "option": with_field("config", ["torch.nn.Identity = torch.save"]),
            "option that is code": with_field("config", ["torch._dynamo.config.x = 1; import this"]),
            "compiler": with_field("config", ["torch._inductor.config.cpp.cxx = ('/x/g++',)"]),
            "program": with_field("config", ["torch._inductor.config.cpp.cxx = ('evil',)"]),
            "option of the call by another word": with_field(
                "options",
                {"options": {"is": "dict", "items": [[{"is": "code", "code": "'cpp.cxx'"}, "evil"]]}},
            ),
            "option of the call": with_field("options", {"options": {"is": "dict", "items": [["cpp.cxx", "evil"]]}}),
            "options of another form": with_field("options", {"options": call(name("Config"), 1)}),
            "argument of the call": with_field("options", {"model": name("Net")}),
            "patch by a function": with_field(
                "patches", [{**DESCRIBED["patches"][0], "value": name("os.system", "os")}]
            ),
            "patch by a package": with_field("patches", [{**DESCRIBED["patches"][0], "value": name("torch.save", "torch")}]),
            "patched and called": {
                **with_argument(call(name("torch.nn.Bilinear", "torch.nn"), 1)),
            },
            "argument of a compiler": with_field("config", ["torch._inductor.config.cpp.march = 'native -wrapper sh,-c,x'"]),
            "method of a class that no file names": {
                **DESCRIBED, "target": name("torch._inductor.codecache.CUDACodeCache.compile", "torch._inductor.codecache")
            },
            "dtype of autocast": with_field("state", {**STATE, "autocast": [["cpu", "torch.save"]]}),
            "default": with_field("state", {**STATE, "default_dtype": "torch.save"}),
        }.items()
    ],
)  # fmt: skip
def test_what_a_run_forges_is_not(described: dict[str, Any], folder: Path) -> None:
    with pytest.raises(CannotWrite):
        script_of(described, folder)


def test_a_comment_is_left_out(folder: Path) -> None:
    text = script_of(with_argument({"is": "code", "code": "1 #,, __import__('os').system('x')"}), folder)
    assert "__import__" not in text


def test_a_text_with_a_backslash_ends_where_it_ends(folder: Path) -> None:
    told = {"is": "list", "items": ["a\\", ", torch.save(1, 'x') #" + 100 * "x", "b\\"]}
    assert not HOSTILE & set(names_of(script_of(with_argument(told), folder)))


HOSTILE = {
    "system",
    "exec",
    "eval",
    "save",
    "savetxt",
    "__import__",
    "remove",
    "Popen",
    "hostile",
    "Command",
    "hub",
    "setup",
    "this",
    "unlink",
}
VALUES: list[Any] = [
    "hostile()", "1; hostile()", "1 # hostile\nhostile()", "'); hostile(); ('", "\"\"\"", "os.system", "torch.save", "exec",
    "a\\", "\n", "hostile",
    "os", "system", "torch", "numpy", "savetxt", "setup", "half", "h = exec", "import this", "../x", "/x", "{it}",
    "\u2028hostile()", "", 0, -1, 1.5,
    True, None, [], {}, ["hostile()"], {"hostile()": 1}, name("exec"), name("os.system", "os"), name("os.system"), name("hostile"),
    call(name("os.system", "os"), "x"), call(name("exec"), "x"), call(name("Net"), "hostile()"), call(name("h"), 1),
    {"is": "python-module", "name": "os"}, {"is": "code", "code": "hostile()"}, {"is": "code", "code": "torch.save"},
    {"is": "attribute", "of": name("Net"), "name": "hostile()"}, {"is": "attribute", "of": {"is": "python-module", "name": "os"},
    "name": "system"},
    tensor(arange=["hostile()", 1]), tensor(fill="hostile()"), {"is": "list", "id": "hostile", "items": []},
    {"line": 1, "text": "hostile()"}, {"line": 1, "text": "f = exec"}, {"line": 1, "name": "hostile()", "value": 1},
]  # fmt: skip


def paths_of(told: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if before:
        yield before
    for key, inner in told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ():
        yield from paths_of(inner, (*before, key))


PATHS = list(paths_of(DESCRIBED))


def changed(told: Any, path: tuple[Any, ...], value: Any, is_key: bool) -> Any:
    told = copy.deepcopy(told)
    inner = told
    for key in path[:-1]:
        if not isinstance(inner, dict | list) or (
            isinstance(inner, list) and (type(key) is not int or key >= len(inner))
        ):
            return told
        inner = inner.get(key) if isinstance(inner, dict) else inner[key]
    if isinstance(inner, dict):
        if is_key and isinstance(value, str):
            inner[value] = inner.pop(path[-1], 1)
        else:
            inner[path[-1]] = copy.deepcopy(value)
    elif isinstance(inner, list) and type(path[-1]) is int and path[-1] < len(inner):
        inner[path[-1]] = copy.deepcopy(value)
    return told


def names_of(text: str) -> Iterator[str]:
    """All names that the code of a script reads or imports."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(each, ast.Load()) | ast.Attribute(_, each, ast.Load()):
                yield each
            case ast.alias(each):
                yield from each.split(".")


@settings(deadline=None, derandomize=True, max_examples=700)
@given(st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(VALUES), st.booleans()), min_size=1, max_size=3))
def test_no_field_brings_code_into_a_script(folder: Path, changes: list[tuple[tuple[Any, ...], Any, bool]]) -> None:
    described: Any = DESCRIBED
    for path, value, is_key in changes:
        described = changed(described, path, value, is_key)
    try:
        text = script_of(described, folder)
    except (CannotWrite, KeyError, TypeError, AttributeError):  # of this test's own reading, too
        return
    assert not HOSTILE & set(names_of(text))
