"""A script that is run up to a cell, or up to a line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_check import write
from tests.command import Warm

from compile_lens.documents.source_file import FileProblem
from compile_lens.pipeline.partial_run import end_of_cell, end_of_cell_at, up_to_line
from compile_lens.syntax.cells import find_cells
from compile_lens.syntax.tree import parse
from compile_lens.workers.job import Job

pytestmark = pytest.mark.usefixtures("warm_command")

SCRIPT = """\
import torch
#%% first
@torch.compile
def f(x):
    return x.sum().item() + 1
'''
# %% inside a string
'''
# %%
f(torch.ones(3))
# %% [markdown]
@torch.compile
def g(x):
    return x
g(torch.ones(3))
raise SystemExit("the last cell was run")
"""


def test_where_cells_begin_and_end() -> None:
    cells = [(cell.number, cell.first_line, cell.last_line) for cell in find_cells(parse(SCRIPT))]
    assert cells == [(1, 1, 1), (2, 2, 8), (3, 9, 10), (4, 11, 16)]
    assert find_cells(parse("import torch\n    # %%\nx = '# %%'\n")) == ()
    assert end_of_cell("f.py", SCRIPT, 3) == 10
    assert end_of_cell_at(SCRIPT, 5) == 8
    assert end_of_cell_at("x = 1\ny = 2\n", 1) == 1


def test_the_text_up_to_a_line_is_what_stands_there() -> None:
    text = "a = 1\r\nb = '\f'\n# é\nc = 3"
    assert up_to_line(Job("f.py"), text, 2).text == "a = 1\r\nb = '\f'\n"
    assert up_to_line(Job("f.py"), text, 3).text == "a = 1\r\nb = '\f'\n# é\n"
    assert up_to_line(Job("f.py"), text, 4).text == text
    for line in (0, 5):
        with pytest.raises(FileProblem, match="has no line"):
            up_to_line(Job("f.py"), text, line)


@pytest.mark.slow
def test_a_cell_from_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, "nb.py", SCRIPT)
    (run,) = Warm(["check", "--cell", "3", "--format", "json", "nb.py"], tmp_path).runs
    assert run["status"] == "ok"
    assert [region["name"] for region in run["regions"]] == ["f"]
    assert run["regions"][0]["graphs"] > 0
    assert "Ran the file only up to line 10, as requested." in run["notes"]
    wrong = Warm(["check", "--cell", "9", "nb.py"], tmp_path)
    assert (wrong.code, "has no cell 9: it has 4." in wrong.err) == (2, True)
    assert Warm(["check", "--cell", "1", "--to-line", "2", "nb.py"], tmp_path).code == 2
