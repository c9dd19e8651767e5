"""A program whose text nests deeper than Python's own parser goes, or is very long, costs what reads it nothing but what it would find."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compile_lens.agent.inputs.absent_bases import _class_at
from compile_lens.agent.inputs.commands import _handed_over
from compile_lens.agent.inputs.failed_constructions import FailedConstructions
from compile_lens.agent.inputs.missing_imports import _nodes
from compile_lens.agent.inputs.module import parsable_prefix
from compile_lens.agent.runtime.parsed_source import LONGEST, parsed
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
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_a_program_stands_one_that_is_nested_deep(reader: str, kind: str, tmp_path: Path) -> None:
    text = f"{BEGIN}{DEEP[kind]}\nfire.Fire(y{'.z' * 700})\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    READERS[reader](str(file), text)


def test_a_long_text_is_not_read() -> None:
    assert parsed("x = 1\n") is not None
    assert parsed("x = 1\n" * (LONGEST // 6 + 1)) is None
    assert parsed("x = (") is None and parsed("\0") is None


def test_a_text_that_nothing_closes_is_not_read_again_for_each_line() -> None:
    text = "x = [\n" + "1,\n" * 40_000 + "]\n)\n" + "y = 1\n" * 10
    started = time.thread_time()
    with pytest.raises(SyntaxError):
        parsable_prefix("x = [\n" + "f(1),\n" * 20_000 + "x y\n")
    assert parsable_prefix(text).startswith("x = [")
    assert time.thread_time() - started < 20.0
