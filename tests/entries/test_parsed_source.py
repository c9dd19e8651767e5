"""A program whose text nests deeper than Python's own parser goes, or is very long, costs what reads it nothing but what it would find."""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compile_lens.agent.capture.source_text import SourceText
from compile_lens.agent.inputs.calling.expressions import InvalidCall, evaluate
from compile_lens.agent.inputs.importing import module
from compile_lens.agent.inputs.importing.absent_bases import _class_at
from compile_lens.agent.inputs.importing.missing_imports import _nodes
from compile_lens.agent.inputs.importing.module import MOST_READ, _relative_depth, parsable_prefix
from compile_lens.agent.inputs.importing.tolerant_import import run_tolerantly
from compile_lens.agent.inputs.scripts.commands import _handed_over
from compile_lens.agent.inputs.scripts.continuing import GUARD, rewritten
from compile_lens.agent.inputs.scripts.failed_constructions import FailedConstructions
from compile_lens.agent.inputs.synthesis.making.preparations import _functions_of
from compile_lens.agent.inputs.synthesis.project.concrete_classes import _only_raises
from compile_lens.agent.inputs.synthesis.project.package_files import statements_mentioning
from compile_lens.agent.inputs.synthesis.source.accepted_values import compared_in
from compile_lens.agent.inputs.synthesis.source.block_classes import _uses
from compile_lens.agent.inputs.synthesis.source.constructor_parameters import _passed_to_base
from compile_lens.agent.inputs.synthesis.source.delegation import _receivers
from compile_lens.agent.inputs.synthesis.source.imports_for_types import _imports
from compile_lens.agent.inputs.synthesis.source.named_sizes import size_of
from compile_lens.agent.inputs.synthesis.source.signatures import read_parameters
from compile_lens.agent.runtime.parsed_source import LONGEST, UnreadableText, parsed
from compile_lens.agent.substitutes.cuda.usage import uses_gpu
from compile_lens.agent.substitutes.data.hub_datasets import _subscripts
from compile_lens.agent.substitutes.data.lengths import _batch_sizes
from compile_lens.agent.substitutes.launcher import _Uses
from compile_lens.agent.substitutes.weights.handled_errors import _tries
from compile_lens.agent.substitutes.weights.state_dict_uses import is_loaded

BEGIN = 'import os\nrank = os.environ["RANK"]\n'
DEEP = {
    "attributes": "y = x" + ".y" * 20_000,
    "signs": "y = " + "-" * 20_000 + "x",
    "brackets": "y = " + "(" * 150 + "x" + ")" * 150,
    "some attributes": "y = x" + ".y" * 700,
}
READERS: dict[str, Callable[[str, str], Any]] = {
    "launcher": lambda file, text: _Uses(file, text),
    "handled errors": lambda file, text: _tries(file),
    "loaded states": lambda file, text: is_loaded(file, 1),
    "batch sizes": lambda file, text: _batch_sizes(file),
    "columns": lambda file, text: list(_subscripts(file)),
    "imports": lambda file, text: _nodes(file),
    "bases": lambda file, text: _class_at(file, 1),
    "commands": lambda file, text: _handed_over(text),
    "constructions": lambda file, text: FailedConstructions().read(text),
    "GPU": lambda file, text: uses_gpu(f"{text}\n# cuda"),
    "statements": lambda file, text: statements_mentioning(file, "x"),
    "packages": lambda file, text: _relative_depth(f"from . import a\n{text}"),
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_a_program_stands_one_that_is_nested_deep(reader: str, kind: str, tmp_path: Path) -> None:
    text = f"{BEGIN}{DEEP[kind]}\nfire.Fire(y{'.z' * 700})\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    READERS[reader](str(file), text)


# what a class of the program has in the body of a method, for readers of functions and classes
CLASS = """\
import torch

class Block(torch.nn.Module):
    def __init__(self, mode="a", **kwargs):
        super().__init__(**kwargs)
        if mode != "b":
            raise NotImplementedError(mode)
        self.part = mode{deep}

    def forward(self, x, *args):
        return self.part(x{deep}, *args)
"""


def _block(file: Path) -> Any:
    """The class of ``file``, whose code was compiled without what is deep: no stack would have room to compile it."""
    shallow = file.read_text().replace(DEEP_PART, "")
    names: dict[str, Any] = {"__name__": file.stem}
    exec(compile(shallow, str(file), "exec"), names)
    module = types.ModuleType(file.stem)
    module.__dict__.update(names, __file__=str(file))
    sys.modules[file.stem] = module
    return module.Block  # type: ignore[attr-defined]


DEEP_PART = ".y" * 700
OF_CLASSES: dict[str, Callable[[Any], Any]] = {
    "accepted values": lambda cls: compared_in(cls.__init__.__code__, {"mode": "mode"}),
    "blocks": _uses,
    "abstract methods": lambda cls: _only_raises(cls.forward),
    "bases": lambda cls: _passed_to_base(cls.__init__),
    "delegation": lambda cls: list(_receivers(None, cls.forward)),
    "imports for types": lambda cls: _imports(cls.__module__),
    "preparations": _functions_of,
    "parameters": lambda cls: read_parameters(cls.forward, skip_first=True),
}


@pytest.mark.parametrize("reader", OF_CLASSES)
def test_whoever_reads_a_class_stands_one_that_is_nested_deep(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deep_block", types.ModuleType("deep_block"))
    file = tmp_path / "deep_block.py"
    file.write_text(
        f"from typing import TYPE_CHECKING\n{CLASS.format(deep=DEEP_PART)}if TYPE_CHECKING{DEEP_PART}: pass\n"
    )
    OF_CLASSES[reader](_block(file))


@pytest.mark.parametrize("kind", DEEP)
def test_a_program_that_is_nested_deep_has_no_guards(kind: str) -> None:
    text = f"found = 1\nif False:\n    {DEEP[kind]}\n"
    names: dict[str, Any] = {GUARD: None}
    try:
        compile(text, "program.py", "exec")
    except (RecursionError, MemoryError) as error:  # the program's own end
        with pytest.raises(type(error)):
            rewritten(text, "program.py")
    else:
        exec(rewritten(text, "program.py"), names)
        assert names["found"] == 1


def test_a_statement_that_fails_beside_one_that_is_nested_deep_is_told() -> None:
    text = f"1 / 0\nif False:\n    {DEEP['some attributes']}\n"
    failed: list[BaseException] = []
    run_tolerantly(compile(text, "program.py", "exec"), text, {}, failed.append)
    assert [type(each) for each in failed] == [ZeroDivisionError]


@pytest.mark.parametrize("kind", sorted(DEEP.keys() - {"brackets"}))
def test_a_call_that_is_nested_deep_is_none(kind: str) -> None:
    expression = DEEP[kind].removeprefix("y = ")
    with pytest.raises(InvalidCall, match=r"nested|too many"):
        evaluate(f"f({expression})", {})
    assert size_of(expression, {"x": 1, "y": 1}) is None


def test_a_repro_of_a_file_that_is_nested_deep_says_why_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"{DEEP['some attributes']}\n")
    with pytest.raises(UnreadableText, match="nested"):
        SourceText(str(file))


def test_a_pipe_in_a_package_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "configs.py"
    os.mkfifo(pipe)
    assert statements_mentioning(str(pipe), "x") == []


def test_a_long_text_is_not_read() -> None:
    assert parsed("x = 1\n") is not None
    assert parsed("x = 1\n" * (LONGEST // 6 + 1)) is None
    assert parsed("x = (") is None and parsed("\0") is None


def test_a_text_that_nothing_closes_is_not_read_again_for_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    parse = ast.parse

    def counted(text: str, *args: Any, **kwargs: Any) -> Any:
        read.append(len(text))
        return parse(text, *args, **kwargs)

    monkeypatch.setattr(module.ast, "parse", counted)
    with pytest.raises(SyntaxError):
        parsable_prefix("x = [\n" + "f(1),\n" * 20_000 + "x y\n")
    assert sum(read) < 2 * MOST_READ
    text = "x = [\n" + "1,\n" * 40_000 + "]\n)\n" + "y = 1\n" * 10
    assert parsable_prefix(text).startswith("x = [")
    assert sum(read) < 3 * MOST_READ


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="its parser reads f-strings as it reads the rest")
def test_an_fstring_that_python_is_slow_to_read_is_not_read() -> None:
    assert parsed("x = f'" + "{a}" * 3_000 + "'\n" + "y = f'{a}{b}'\n" * 1_000) is not None
    assert parsed("x = f'" + "{a}" * 4_000 + "'\n") is None
    assert parsed("x = [rF'''" + "{a}\n" * 4_000 + "''']\n") is None
    assert parsed("x = '" + "{a}" * 4_000 + "'\n") is not None
