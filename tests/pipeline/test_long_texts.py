"""What the server reads in files of a workspace takes time that grows with their length alone, whatever they repeat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.fixes.offer import fixes_for
from compile_lens.pipeline.document_facts import facts_of
from compile_lens.pipeline.entry_choice import choose
from compile_lens.pipeline.unreached_functions import without_unreached
from compile_lens.syntax import tree as syntax_tree
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.tree import parse
from growth import grows_with_length

MODEL = """\
import torch
from net import Net

class Model(torch.nn.Module):
    def forward(self, x):
        return x

@torch.compile
def step(x):
    return x

"""
LENGTH = 60_000
REPEATED = {
    "calls": "y = build(x)\n",
    "calls of the file's": "step(x)\n",
    "methods that compile": "Net().compile()\n",
    "brackets": "(",
    "lists": "y = [\n",
    "f-strings": "f'{",
    "short f-strings": "f'{a}'\n",
    "attributes": ".y",
    "comparisons": "<y",
    "comments": "# a\n",
    "continued lines": "\\\n",
    "decorators": "@torch.compile\n",
}


NUMBERED = {
    "classes": "class A{0}(A{1}):\n    def f(self, x): return x\n",
    "classes of two": "class A{0}(A{1}, B{1}): pass\nclass B{0}(A{1}, B{1}): pass\n",
    "functions": "def f{0}(x): return f{1}(x)\n",
    "compiled functions": "@torch.compile\ndef f{0}(x): return f{1}(x)\n",
    "tests": "def test_{0}():\n    pass\n",
    "names": "a{1} = a{0}\n",
}
BEGINS = {"attributes": "y = x", "comparisons": "y = x"}
ENDS = {"decorators": "def last(x): return x\n"}


def text_of(name: str, length: int) -> str:
    """A program with one part as often as it fits; ``NUMBERED`` ones have the numbers of this one and of the next."""
    part = REPEATED.get(name) or NUMBERED[name]
    times = length // len(part)
    repeated = "".join(part.format(n, n + 1) for n in range(times)) if name in NUMBERED else part * times
    return f"{MODEL}{BEGINS.get(name, '')}{repeated}{ENDS.get(name, '')}\n"


@pytest.fixture(autouse=True)
def no_text_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock, which would hide how the time grows."""
    monkeypatch.setattr(syntax_tree, "_LONGEST_S", 3_600.0)


@pytest.mark.parametrize("name", [*REPEATED, *NUMBERED])
def test_no_text_keeps_the_server_busy(name: str, tmp_path: Path) -> None:
    def prepared(length: int) -> Callable[[], object]:
        text, folder = text_of(name, length), tmp_path / str(length)
        folder.mkdir()
        (folder / "net.py").write_text(
            "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x): return x\n"
        )
        (folder / "test_net.py").write_text(text)
        (folder / "use.py").write_text(text)

        def read() -> None:
            facts_of(text)
            choose(str(folder / "use.py"), text, None)
            choose(str(folder / "net.py"), (folder / "net.py").read_text(), folder)
            predict(text)
            without_unreached(text, text + "# changed\n", [text])

        return read

    assert grows_with_length(prepared, LENGTH)


def test_a_long_fstring_does_not_keep_the_server_busy() -> None:
    def prepared(length: int) -> Callable[[], object]:
        text = f"{MODEL}y = f'{'{a}' * (length // 3)}'\n"

        def read() -> None:
            without_unreached(text, text + "# changed\n", [text])
            syntax_tree.is_python(text)

        return read

    assert grows_with_length(prepared, 2 * LENGTH)


def test_fixes_ask_for_what_is_in_a_file_once() -> None:
    finding = Finding(
        kind=Kind.RECOMPILE, code="", message="", severity=Severity.WARNING, place=Place("use.py", 10, 5, 10, 13)
    )

    def prepared(length: int) -> Callable[[], object]:
        tree = parse(MODEL + "y = x" + "<y" * (length // 2) + "\n")
        return lambda: [fixes_for(finding, tree) for _ in range(10)]

    assert grows_with_length(prepared, 40_000)


def test_what_grows_with_the_square_is_found() -> None:
    def prepared(length: int) -> Callable[[], object]:
        return lambda: sum(1 for _ in range(length) for _ in range(length))

    assert not grows_with_length(prepared, 6_000)
