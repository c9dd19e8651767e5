"""Names of torch as people write them: through aliases, with formulas in their documentation, and by the logs that are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor import Editor
from programs import write

from compile_lens.knowledge.docstring_markdown import plain_formula, readable
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge

ALIASES = """\
import torch
import torch.nn.functional as F
aten = torch.ops.aten
ops = torch.ops
prims = ops.prims  # the primitives
mul = aten.mul
def f(x):
    functional = torch.nn.functional
    return aten.add(x, mul.Tensor(x, prims.sin(x)), functional.softmax(x, 0))
"""


@pytest.mark.parametrize(
    ("mark", "heading"),
    [
        ("add(", "**`aten.add`**"),
        ("mul\n", "**`aten.mul`**"),
        ("Tensor(", "**`aten.mul.Tensor`**"),
        ("sin(", "**`prims.sin`**"),
        ("softmax(", "**`torch.nn.functional.softmax`**"),
    ],
)
async def test_names_are_known_through_what_they_were_assigned_to(
    ed: Editor, root: Path, mark: str, heading: str
) -> None:
    uri = await ed.open(write(root, ALIASES))
    line = ALIASES[: ALIASES.index(mark)].count("\n")
    hover = await ed.hover(uri, line, ALIASES.splitlines()[line].index(mark.strip()) + 1)
    assert hover is not None
    assert hover["contents"]["value"].startswith(heading)


LOGS = 'import os\nos.environ["TORCH_LOGS"] = "{}"\n'


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("", ["graph_breaks", "recompiles", "dynamo", "output_code"], "all"),
        ("+dyn", ["dynamo", "dynamic"], None),
        ("gra", ["graph_breaks", "graph_code"], None),
        ("+dynamo,out", ["output_code"], None),
    ],
)
async def test_logs_are_offered_by_use_and_by_their_beginning(
    ed: Editor, root: Path, typed: str, first: list[str], last: str | None
) -> None:
    text = LOGS.format(typed)
    uri = await ed.open(write(root, text))
    at = {"line": 1, "character": text.splitlines()[1].index(f'"{typed}"', 20) + 1 + len(typed)}
    found = await ed.request("textDocument/completion", {"textDocument": {"uri": uri}, "position": at})
    labels = [item["label"] for item in sorted(found["items"], key=lambda item: item["sortText"])]
    assert labels[: len(first)] == first
    assert last is None or labels[-1] == last


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"`(N \times M)`", "`(N × M)`"),
        (r"\text{Softmax}(x_{i}) = \frac{\exp(x_i)}{\sum_j \exp(x_j)}", "Softmax(x_i) = exp(x_i) / (Σ_j exp(x_j))"),
        (r"\sqrt{2 / \pi}", "√(2 / π)"),
        (r"a newline is '\n'", r"a newline is '\n'"),
        ("C:\\Users", "C:\\Users"),
    ],
)
def test_formulas_are_plain_signs(latex: str, plain: str) -> None:
    assert plain_formula(latex) == plain


def test_fields_and_directives_are_markdown() -> None:
    text = (
        ":param x: the input\n:type x: Block of `int1`, or\n    a scalar\n:return: :code:`x`\n\n.. warning::\n    Slow.\n\n"
        "Example::\n\n    y = x"
    )
    assert readable(text) == (
        "- `x` (Block of `int1`, or): the input\nReturns: `x`\n\n**Warning:**\n    Slow.\n\nExample:\n\n    y = x"
    )


def test_underlined_titles_are_bold() -> None:
    assert readable("Makes one.\n\nNotes\n*****\nSlow.\n\nExample\n-------\n\n    y = x") == (
        "Makes one.\n\n**Notes**\n\nSlow.\n\n**Example**\n\n\n    y = x"
    )


def test_no_text_of_torch_shows_its_markup() -> None:
    knowledge = Knowledge()
    markup = (
        ":param ",
        ":type ",
        ":rtype",
        ":math:",
        ":code:",
        ":class:",
        ".. math",
        ".. note",
        ".. warning",
        "\\times",
        "\\frac",
        "\\text{",
    )
    shown = []
    for kind in KnowledgeKind:
        for name in knowledge.names(kind):
            entry = knowledge.get(kind, name)
            text = readable(entry.theirs) if entry is not None else ""
            shown += [(name, mark) for mark in markup if mark in text]
    assert shown == []
