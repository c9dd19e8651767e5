"""Hovers: what they say, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor import Editor, Message, capabilities
from programs import HEAD, LINE, ONE, RANGE, write

from compile_lens.lsp.markdown import prose
from compile_lens.shown_text import code_span, markdown_text


def value(hover: Message | None) -> str:
    assert hover is not None
    return str(hover["contents"]["value"])


async def test_on_a_finding(raw: Editor, root: Path) -> None:
    ed = raw
    await ed.initialize(root, {"run": {"enabled": "always"}, "fixes": {"verify": False}})
    uri = await ed.open(write(root, HEAD + "    print(x)  # finding GB0002\n"))
    await ed.published(uri)
    hover = await ed.hover(uri, LINE, 6)
    assert hover is not None
    assert (hover["contents"]["kind"], hover["range"]) == ("markdown", RANGE)
    assert value(hover) == (
        "**Graph break** `GB0002`\n\n"
        "Graph break GB0002 (2 times)\n\n"
        "Dynamo does not know \\*this\\*.\n\n"
        "**What to do**\n\n"
        "- Quick fix: Print in the graph (`torch._higher_order_ops.print`) "
        "(not verified: compileLens.fixes.verify is off)\n"
        "- Quick fix: Call `print` after the graph (`reorderable_logging_functions`) "
        "(not verified: compileLens.fixes.verify is off)\n"
        "- Quick fix: Remove the `print` (not verified: compileLens.fixes.verify is off)\n"
        "- Move it out.\n- Use torch.cond.\n\n"
        "**Cost:** one more graph\n\n"
        f"**Call path**\n\n1. [train.py:6]({uri}#L6) in `main`: `print(x) # finding GB0002`\n\n"
        f"the import: [train.py:1]({uri}#L1)\n\n"
        "```text\nTraceback: __init__\n```\n\n"
        "Frame `0/0` · [More about GB0002](https://example.invalid/gb0002)"
    )
    assert await ed.hover(uri, LINE, 2) is None


async def test_on_a_region(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    hover = await ed.hover(uri, 3, 8)
    assert hover is not None
    assert hover["range"] == {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 14}}
    summary, _, meaning = value(hover).partition("\n\n---\n\n")
    assert summary == (
        "**`f`** · 2 graphs · 1 graph break\n\nFrames `0/0`, `1/0`\n\n*Last run: 1.25 s, depth dynamo, torch 2.13.0.*"
    )
    # … and what one can say to it
    assert meaning.startswith("**`torch.compile`** · function")
    assert "- Signature: `compile(model: " in meaning
    assert "- `fullgraph`: `True` makes any graph break an error" in meaning
    # beside the word, what it did is all
    assert value(await ed.hover(uri, 3, 3)) == summary


@pytest.mark.parametrize(
    ("line", "mark", "name"),
    [
        ("exported = torch.export.export(Net(), (torch.ones(3),))", "export(", "torch.export.export"),
        ("Net().compile(dynamic=True)", "compile(", "torch.compile"),
        ("fast = functools.partial(torch.compile, dynamic=True)(Net())", "compile,", "torch.compile"),
    ],
)
async def test_on_other_ways_to_compile(ed: Editor, root: Path, line: str, mark: str, name: str) -> None:
    text = f"import functools  # finding GB0001\n\nimport torch\n\n\nclass Net(torch.nn.Module): ...\n\n\n{line}\n"
    uri = await ed.open(write(root, text))
    await ed.status(state="idle", findings=1)
    summary, _, meaning = value(await ed.hover(uri, 8, line.index(mark) + 2)).partition("\n\n---\n\n")
    assert summary.startswith("**`Net`** · 2 graphs")
    assert meaning.startswith(f"**`{name}`** · function")


async def test_a_region_moves_and_one_that_was_edited_has_no_result(ed: Editor, root: Path) -> None:
    uri = await ed.open(write(root, ONE))
    await ed.status(state="idle", findings=1)
    await ed.insert(uri, 2, 0, "\n")
    assert "2 graphs" in value(await ed.hover(uri, 4, 8))
    await ed.insert(uri, 3, 4, "(dynamic=True)", character=14)
    summary, _, meaning = value(await ed.hover(uri, 4, 8)).partition("\n\n---\n\n")
    assert summary == "No result for this region yet. Save the file to analyze it."
    assert meaning.startswith("**`torch.compile`**")


async def test_plain_text_for_an_editor_that_knows_no_markdown(raw: Editor, root: Path) -> None:
    said = capabilities()
    said["textDocument"]["hover"] = {"contentFormat": ["plaintext"]}
    await raw.initialize(root, {"run": {"enabled": "always"}}, capabilities=said)
    uri = await raw.open(write(root, ONE))
    await raw.published(uri)
    hover = await raw.hover(uri, LINE, 6)
    assert hover is not None and hover["contents"]["kind"] == "plaintext"


@pytest.mark.parametrize(
    ("plain", "markdown"),
    [
        ("f(*args, **kwargs)", "f(\\*args, \\*\\*kwargs)"),
        ("call to `print(*x)` in <locals>", "call to `print(*x)` in \\<locals\\>"),
        ("self.__init__", "self.\\_\\_init\\_\\_"),
        ("# not a title", "\\# not a title"),
    ],
)
def test_plain_text_reads_the_same_as_markdown(plain: str, markdown: str) -> None:
    assert markdown_text(plain) == markdown


def test_code_that_holds_backticks() -> None:
    assert code_span("x = '`'") == "`` x = '`' ``"
    assert code_span(" a\n  b ") == "`a b`"


def test_what_stands_in_is_code() -> None:
    assert prose("Because\n    x = *y\n    z\nthen *this*") == "Because\n\n```text\nx = *y\nz\n```\n\nthen \\*this\\*"
