"""What the server reads in files of a workspace takes time that grows with their length alone, whatever they repeat."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.fixes.offer import fixes_for
from compile_lens.pipeline.document_facts import facts_of
from compile_lens.pipeline.entry_choice import choose
from compile_lens.pipeline.unreached_functions import without_unreached
from compile_lens.syntax.predictions.predict import predict
from compile_lens.syntax.tree import parse

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
    "attributes": ".y",
    "comparisons": "<y",
    "comments": "# a\n",
    "continued lines": "\\\n",
    "decorators": "@torch.compile\n",
}


def numbered(line: str) -> str:
    """``line`` as often as it fits, with the numbers of this one and of the next."""
    return "".join(line.format(n, n + 1) for n in range(LENGTH // len(line)))


TEXTS = {
    **{name: part * (LENGTH // len(part)) for name, part in REPEATED.items()},
    "classes": numbered("class A{0}(A{1}):\n    def f(self, x): return x\n"),
    "classes of two": numbered("class A{0}(A{1}, B{1}): pass\nclass B{0}(A{1}, B{1}): pass\n"),
    "functions": numbered("def f{0}(x): return f{1}(x)\n"),
    "compiled functions": numbered("@torch.compile\ndef f{0}(x): return f{1}(x)\n"),
    "tests": numbered("def test_{0}():\n    pass\n"),
    "names": numbered("a{1} = a{0}\n"),
}
BEGINS = {"attributes": "y = x", "comparisons": "y = x"}
ENDS = {"decorators": "def last(x): return x\n"}


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_keeps_the_server_busy(name: str, tmp_path: Path) -> None:
    text = f"{MODEL}{BEGINS.get(name, '')}{TEXTS[name]}{ENDS.get(name, '')}\n"
    (tmp_path / "net.py").write_text(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x): return x\n"
    )
    (tmp_path / "test_net.py").write_text(text)
    (tmp_path / "use.py").write_text(text)
    started = time.thread_time()
    facts_of(text)
    choose(str(tmp_path / "use.py"), text, None)
    choose(str(tmp_path / "net.py"), (tmp_path / "net.py").read_text(), tmp_path)
    predict(text)
    without_unreached(text, text + "# changed\n", [text])
    assert time.thread_time() - started < 8.0


def test_fixes_ask_for_what_is_in_a_file_once() -> None:
    tree = parse(MODEL + "y = x" + "<y" * 20_000 + "\n")
    finding = Finding(
        kind=Kind.RECOMPILE, code="", message="", severity=Severity.WARNING, place=Place("use.py", 10, 5, 10, 13)
    )
    started = time.thread_time()
    for _ in range(10):
        fixes_for(finding, tree)
    assert time.thread_time() - started < 4.0
