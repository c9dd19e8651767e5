"""What a run may forge of functions: what a script calls is the user's, an operator, a layer, or a documented function of torch."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from test_forged_descriptions import (
    MAIN,
    PART,
    call,
    name,
    script_of,
    tensor,
    with_argument,
    with_field,
    with_item,
)

from compile_lens.repro.expressions import CannotWrite

PURGE = "def purge(where, *rest):\n    os.remove(where)"
ITEM = {"line": 2, "text": PURGE}
PATCH = {"owner": {"is": "python-module", "name": "torch.nn"}, "name": "Bilinear"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("functions") / "program"
    folder.mkdir()
    main = MAIN.replace("class Config:", f"{PURGE}\n\n\nclass Config:")
    for file, text in {"m.py": main, "part.py": PART}.items():
        (folder / file).write_text(text)
    return folder


def module(text: str) -> dict[str, Any]:
    return {"is": "python-module", "name": text}


def made(of: str, *args: Any) -> dict[str, Any]:
    return call(name(of, of.rpartition(".")[0]), *args)


def prepared(*args: Any) -> dict[str, Any]:
    return made("functools.partial", *args)


def with_purge(argument: Any = None, **fields: Any) -> dict[str, Any]:
    described = {**with_item(ITEM), **copy.deepcopy(fields)}
    if argument is not None:
        described["call"]["args"] = [argument]
    return described


SGD = made("torch.optim.SGD", {"is": "list", "items": [tensor()]}, 1)


@pytest.mark.parametrize(
    "described",
    [
        pytest.param(told, id=id_)
        for id_, told in {
            "module": with_argument(module("os")),
            "module of torch": with_argument(module("torch.serialization")),
            "module that the file imports": with_argument(module("numpy")),
            "module by another name": with_item({"line": 2, "name": "h", "value": module("os")}),
            "module of a module": with_argument(name("enum.sys", "enum")),
            "builtins of a module": with_argument(name("enum.bltns", "enum")),
            "module of dataclasses": with_argument(name("dataclasses.sys", "dataclasses")),
            "module of functions": with_argument(name("torch.nn.functional.torch", "torch.nn.functional")),
            "module of Python of functions": with_argument(name("torch.nn.functional.importlib", "torch.nn.functional")),
            "caller of methods": {**with_argument(1), "target": made("operator.methodcaller", "system", "touch x")},
            "reader of attributes": with_argument(made("operator.attrgetter", "a.b")),
            "reader of items": with_argument(made("operator.itemgetter", 1)),
            "caller": with_argument(name("operator.call", "operator")),
            "prepared function of a package": with_argument(prepared(name("numpy.array", "numpy"), 1)),
            "prepared without a function": with_argument(prepared()),
            "prepared text": with_argument(prepared("x")),
            "prepared path": with_argument(prepared(name("pathlib.Path", "pathlib"), "x")),
            "state of a prepared function": with_argument(
                {"is": "object", "id": 77, "of": name("functools.partial", "functools"), "attributes": {"func": 1}}
            ),
            "prepared function for torch": with_purge(
                made("torch.optim.lr_scheduler.LambdaLR", SGD, prepared(name("purge"), "/home/me"))
            ),
            "prepared function for a backend": with_purge(options={"backend": prepared(name("purge"), "/home/me")}),
            "prepared function for guards": with_purge(options={"guard_filter_fn": prepared(name("purge"), "/home/me")}),
            "prepared function in torch's place": with_purge(
                patches=[{**PATCH, "value": prepared(name("purge"), "/home/me")}]
            ),
            "class of threads": with_argument(made("torch.nn.parallel.parallel_apply.threading.Thread", None, name("h"))),
            "class of another module": with_argument(made("torch.nn.init.torch.package.PackageImporter", "x.pt")),
            "class behind a module": with_argument(made("torch.optim.torch.Tensor", 1)),
            "method of a class": with_argument(made("torch._inductor.codecache.CUDACodeCache.compile", "x")),
        }.items()
    ],
)  # fmt: skip
def test_functions_of_others_are_not_written(described: dict[str, Any], folder: Path) -> None:
    with pytest.raises(CannotWrite):
        script_of(described, folder)


@pytest.mark.parametrize(
    "argument",
    [
        prepared(name("torch.nn.LayerNorm", "torch.nn")),
        prepared(name("torch.nn.functional.gelu", "torch.nn.functional")),
        prepared(name("Net"), 1),
        made("torch.nn.TransformerEncoderLayer", 4, 2, 8, 0, name("torch.nn.functional.gelu", "torch.nn.functional")),
        made("torch.optim.lr_scheduler.LambdaLR", SGD, name("register_all")),
        made("torch.nn.modules.activation.GELU"),
        made("torch.distributions.normal.Normal", 0, 1),
        name("operator.add", "operator"),
        name("math.sqrt", "math"),
    ],
)
def test_own_functions_layers_and_operators_are(argument: dict[str, Any], folder: Path) -> None:
    described = with_item({"line": 33, "text": 'def register_all():\n    os.system("x")'})
    described["call"]["args"] = [argument]
    compile(script_of(described, folder), "script", "exec")


def test_a_module_has_the_name_that_an_import_gives_it(folder: Path) -> None:
    script_of(with_item({"line": 2, "name": "nn", "value": module("torch.nn")}), folder)


@pytest.mark.parametrize("owner", ["torch", "setup"])
def test_what_the_sources_do_not_replace_stays(owner: str, folder: Path) -> None:
    patch = {"owner": module(owner), "name": "manual_seed", "value": name("Net")}
    assert f"{owner}.manual_seed = " not in script_of(with_field("patches", [patch]), folder)
