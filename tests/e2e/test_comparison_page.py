"""The page of ``diff --format html`` in a real browser: nothing of a program's runs or loads, in light and dark."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from workbench import HERE, Lab

from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.comparison import Located, Side, Totals, compare
from compile_lens.diff.identity import Identity
from compile_lens.formats.comparison_page import to_html

pytestmark = pytest.mark.e2e

HOSTILE = '<img src="https://example.org/x.png" onerror="alert(1)"><script>alert(1)</script>'


def found(code: str, text: str, message: str, line: int, count: int = 1) -> Located:
    return Located(Identity("model.py", "graph-break", code, "Net.forward", text, message), line, "warning", count)


def side(name: str, findings: list[Located], functions: list[CompiledFunction], graphs: int) -> Side:
    kernels = sum(len(one.kernels) for one in functions)
    return Side(name, tuple(findings), Totals(graphs, len(findings), 1, 12.5, kernels), tuple(functions))


@pytest.fixture(scope="module")
def page() -> str:
    kept = found("GB0170", "if x.max() > limit:", "Graph break: this line branches on a tensor's value.", 12)
    before = side(
        "main:model.py",
        [kept, found("GB0007", "y = f(x)", "Graph break: `f` is skipped.", 30)],
        [CompiledFunction("model.py", "Net.forward", 9, 1, 14, ("cpp_fused_add", "extern_kernels.mm"))],
        1,
    )
    after = side(
        f"a {HOSTILE}",
        [
            found("GB0170", "if x.max() > limit:", "Graph break: this line branches on a tensor's value.", 14, 3),
            found("GB0059", f'print("{HOSTILE}")', f"Graph break: {HOSTILE}", 20),
            found("GB0009", "z = g(x)", "Graph break: no name for it.", 21),
        ],
        [CompiledFunction("model.py", "Net.forward", 9, 3, 15, ("cpp_fused_add", "extern_kernels.bmm", HOSTILE))],
        3,
    )
    return to_html(compare(before, after))


def test_the_page_shows_and_loads_what_it_should(lab: Lab, page: str, tmp_path: Path, shots: Path) -> None:
    assert "<script" not in page and "<img" not in page and "http://" not in page
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    url = (tmp_path / "page.html").as_uri()
    given = {"url": url, "shots": str(shots), "browser": lab.browser}
    done = subprocess.run(
        [lab.node, str(HERE / "scenarios" / "comparison_page.mjs")],
        env={**os.environ, "PLAYWRIGHT": lab.playwright, "SCENARIO": json.dumps(given)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    told = json.loads(done.stdout)
    assert (told["requests"], told["messages"], told["dialogs"]) == ([url, url], [], 0)
    light, dark = told["schemes"]["light"], told["schemes"]["dark"]
    assert (light["background"], dark["background"]) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)")
    assert light["headings"] == ["New", "Gone", "Changed", "Compiled code"]
    assert light["text"].count(HOSTILE) == 4  # the name, the message, the line of source, the kernel
    assert not light["wider"]
