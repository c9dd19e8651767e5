"""Finding ways to run a file takes time in proportion to its text, whatever the text is made to look like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compile_lens.entries.find import find_entries
from compile_lens.pipeline.workspace import MAX_EXAMPLES, MOST_CODE, documented_examples
from compile_lens.syntax.tree import parse
from growth import grows_with_length

_MODULE = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


def _empty_lines(length: int) -> str:
    return f'def f(x: torch.Tensor):\n    """{chr(10) * length}"""\n    return x\n'


def _prompts_on_one_line(length: int) -> str:
    return f'{_MODULE}def f(x: torch.Tensor):\n    """\n    {">>> " * (length // 4)}\n    """\n    return x\n'


def _constructions(length: int) -> str:
    examples = "".join(f"    >>> a{i} = Net()\n" for i in range(length // 20))
    return _MODULE.replace("    def", f'    """\n{examples}    """\n    def', 1)


def _circle_of_methods(length: int) -> str:
    count = length // 60
    methods = (
        f"    def m{i}(self, x: torch.Tensor):\n        return self.m{(i + 1) % count}(x)\n" for i in range(count)
    )
    return "class A:\n" + "".join(methods)


def _chain_of_classes(length: int) -> str:
    return _MODULE.replace("Net", "C0") + "".join(f"class C{i}(C{i - 1}):\n    pass\n" for i in range(1, length // 26))


@pytest.mark.parametrize(
    "text", [_empty_lines, _prompts_on_one_line, _constructions, _circle_of_methods, _chain_of_classes]
)
def test_a_search_grows_with_the_text(text: Callable[[int], str]) -> None:
    def prepared(length: int) -> Callable[[], object]:
        written = f"import torch\n{text(length)}"
        return lambda: find_entries(parse(written))

    assert grows_with_length(prepared, 40_000)


def test_pages_of_very_many_examples_are_read_in_part(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("".join(f"```py\nimport a{i}\n```\n" for i in range(2 * MAX_EXAMPLES)))
    assert len(documented_examples(tmp_path)) == MAX_EXAMPLES
    # each example needs the first one's definition
    long = f"def first():\n    return '{'a' * (MOST_CODE // 10)}'\n"
    page.write_text(f"```py\n{long}```\n" + "```py\nfirst()\n```\n" * 50)
    assert 5 < len(documented_examples(tmp_path)) < 20
