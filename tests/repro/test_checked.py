"""What the agent describes of a run is compared with the user's files, and held to data, before a script is made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compile_lens.repro.capture import CapturedRegion
from compile_lens.repro.checked import checked
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.own_files import OwnFiles

MAIN = """\
import torch
import transformers
from torch import nn
from part import half as h


@torch.compile
def f(x):
    return h(x) + 1
"""
PART = "def half(x):\n    return x / 2\n"
BAD = "__import__('os').system('x')"
STATE = {"default_dtype": "torch.float32", "autocast": [], "matmul_precision": "highest", "grad": True}


def check(
    folder: Path, files: list[dict[str, Any]] | None = None, target: Any = None, config: tuple[str, ...] = ()
) -> None:
    for name, text in (("m.py", MAIN), ("part.py", PART), ("test_m.py", f"import m\n{BAD}\n")):
        (folder / name).write_text(text)
    told = [{"future": False, "module": "m", "imports": [], "items": [], "locals": [], **file} for file in files or []]
    told = [{**file, "file": str(folder / file.get("file", "m.py"))} for file in told]
    region = CapturedRegion(0, {"is": "list", "items": target or []}, {}, config, STATE, tuple(told))
    checked(region, (), OwnFiles(folder / "m.py", None, folder))


def test_source_and_values_of_the_users_files_are_taken(tmp_path: Path) -> None:
    items = [{"line": 6, "text": "def f(x):\n    return h(x) + 1"}, {"line": 2, "text": "h = half"}]
    part = {"file": "part.py", "items": [{"line": 1, "text": PART.rstrip()}]}
    config = {"is": "call", "of": {"is": "name", "name": "transformers.LlamaConfig", "import": "transformers"}}
    value = [{**config, "args": [{"is": "code", "code": "float('nan')"}], "kwargs": {}}, {"is": "name", "name": "f"}]
    check(
        tmp_path,
        [{"items": items, "imports": ["import torch", "from torch import nn"]}, part],
        value,
        ("torch._dynamo.config.x = 3",),
    )


@pytest.mark.parametrize(
    "file",
    [
        {"items": [{"line": 1, "text": BAD}]},
        {"file": "test_m.py", "items": [{"line": 2, "text": BAD}]},
        {"items": [{"line": 6, "text": f"def f(x):\n    {BAD}\n    return h(x) + 1"}]},
        {"items": [{"line": 1, "text": "f = exec"}]},
        {"items": [{"line": 1, "name": f"a = {BAD}; b", "value": 1}]},
        {"imports": [BAD]},
        {"imports": ["import test_m"]},
        {"imports": [f"import torch; {BAD}"]},
        {"locals": [{"name": "g", "text": f"g = lambda: {BAD}", "free": {}}]},
    ],
)
def test_what_stands_in_no_file_that_is_imported_is_not_written(file: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CannotWrite):
        check(tmp_path, [file])


@pytest.mark.parametrize(
    "value",
    [
        {"is": "code", "code": BAD},
        {"is": "name", "name": BAD},
        {"is": "name", "name": "exec"},
        {"is": "python-module", "name": "test_m"},
        {"is": "attribute", "of": 1, "name": f"real, {BAD}"},
        {"is": "call", "of": {"is": "name", "name": "os.system", "import": "os"}, "args": ["x"], "kwargs": {}},
        {"is": "object", "of": {"is": "name", "name": "subprocess.Popen", "import": "subprocess"}, "attributes": {}},
        {
            "is": "call",
            "of": {"is": "name", "name": "torch.hub.load", "import": "torch.hub"},
            "args": ["x"],
            "kwargs": {},
        },
        {"is": "tensor", "dtype": BAD, "shape": [], "stride": [], "values": {}},
        {"is": "tensor", "dtype": "torch.int64", "shape": [BAD], "stride": [1], "values": {}},
        {"is": "tensor", "dtype": "torch.int64", "shape": [1], "stride": [1], "values": {"fill": BAD}},
        {"is": "tensor", "dtype": "torch.int64", "shape": [1], "stride": [1], "values": {"file": "../../key"}},
        {"is": "numpy", "dtype": "int64", "value": BAD},
    ],
)
def test_a_description_is_no_code(value: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(CannotWrite):
        check(tmp_path, target=[value])


def test_an_option_is_no_code(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite):
        check(tmp_path, config=(f"torch._dynamo.config.x = {BAD}",))
