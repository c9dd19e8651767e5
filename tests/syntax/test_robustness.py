"""Nothing in this room raises, and every range lies inside the text, whatever the text is."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.predictions.registry import ALL
from compile_lens.syntax.ranges import expression_at, find_expression
from compile_lens.syntax.regions import MOST_REGIONS, find_regions
from compile_lens.syntax.tree import Range, SourceTree, parse

WORDS = st.sampled_from(
    [
        *("import torch", "from torch import compile", "@torch.compile", "torch.compile(", "partial(", "compile"),
        *("def f(x", "class A", "lambda x", "x.item()", "self.n", "if ", "for x in ", "while ", "with ", "return "),
        *("await ", "yield ", "(", ")", "[", "]", "{", "}", ":", "=", ",", ";", ".", "*", "**", "'", '"""', "f'{", "#"),
        *("\n", "\r\n", "\r", "\x0c", "    ", "\t", "\\\n", "é", "👩‍🔬", "\ud800", "\x00"),
    ]
)
TEXTS = st.one_of(st.text(), st.lists(WORDS, max_size=40).map("".join), st.lists(WORDS, max_size=40).map(" ".join))


def assert_inside(tree: SourceTree, place: Range) -> None:
    assert 1 <= place.line <= place.end_line <= len(tree.lines)
    assert 1 <= place.column <= len(tree.lines[place.line - 1]) + 1
    assert 1 <= place.end_column <= len(tree.lines[place.end_line - 1]) + 1
    assert (place.line, place.column) <= (place.end_line, place.end_column)


def assert_sound(text: str) -> None:
    tree = parse(text)
    for region in find_regions(tree):
        assert_inside(tree, Range(region.line, region.column, region.end_line, region.end_column))
    for definition in definitions(tree):
        assert definition.first_line <= definition.def_line <= definition.last_line <= len(tree.lines)
        for place in [definition.name_place, *(parameter.place for parameter in definition.parameters)]:
            assert_inside(tree, place)
    for prediction in predict(tree, ALL):
        assert_inside(tree, prediction.place)
        assert prediction.sentence and prediction.rule in ALL
        assert prediction.regions


@given(TEXTS)
def test_any_text(text: str) -> None:
    assert_sound(text)
    assert_sound("import torch\n" + text)
    # inside of what is compiled, where rules look
    indented = "\n    ".join(text.splitlines())
    assert_sound(
        f"import torch\n@torch.compile\ndef f(x, n, *rest, **more):\n    y = x + 1\n    {indented}\n    return y"
    )


@given(TEXTS, st.integers(-1, 6), st.integers(-1, 30), st.none() | st.integers(-1, 40), st.none() | st.integers(-1, 7))
def test_any_place(text: str, line: int, column: int, end_column: int | None, end_line: int | None) -> None:
    tree = parse(text)
    for place in (
        expression_at(tree, line),
        expression_at(tree, line, column, end_column),
        expression_at(tree, line, column, end_column, end_line),
        expression_at(tree, line, column, end_byte=end_column),
        find_expression(tree, "x", line, end_line),
    ):
        if place is not None:
            assert_inside(tree, place)


def test_every_cut_of_a_real_file() -> None:
    source = Path(__file__).with_name("test_regions.py").read_text(encoding="utf-8")
    generator = random.Random(0)
    for _ in range(20):
        start, end = sorted(generator.choices(range(len(source)), k=2))
        assert_sound(source[:start] + source[end:])


def test_large_and_deep_files() -> None:
    function = "@torch.compile\ndef f(x):\n    return torch.compile(x)(lambda y: y)\n\n"
    assert len(find_regions("import torch\n" + function * 900)) == 1_800
    assert len(find_regions("import torch\n" + function * 2_000)) == MOST_REGIONS
    assert_sound("import torch\ntorch.compile" + "(" * 3_000)
    assert_sound("import torch\n" + "lambda: " * 200 + "x")
    assert_sound("import torch\nx = " + "f(" * 2_000 + ")" * 2_000)
    assert_sound("import torch\nx" + "()" * 5_000)
    assert_sound("import torch\nx" + ".compile()" * 200)
    assert_sound("import torch\n" + "x = '" + "é" * 1_000_000)
