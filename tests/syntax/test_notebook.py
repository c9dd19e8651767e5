"""The program that is made of a notebook's cells."""

from __future__ import annotations

import ast

import pytest

from compile_lens.syntax import notebook
from compile_lens.syntax.notebook import program_of, without_magics


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if a:\n    !ls\n    b()", "if a:\n    pass\n    b()"),
        ("!pip install \\\n  torch\nx = 1", "pass\npass\nx = 1"),
        ("x?\ntorch.nn??\n?x\nx = 1", "pass\npass\npass\nx = 1"),
        ("files = !ls\na, b = %env\nx = 1", "files = None\na, b = None\nx = 1"),
        # what is timed runs, in its columns
        ("%time y = f(x)", "pass; y = f(x)"),
        ("%timeit -n 10 -r 3 f(x)", "pass;              f(x)"),
        ("%%time\nf(x)", "\nf(x)"),
        ("%%capture out\n!ls\nf(x)", "\npass\nf(x)"),
        ("%%bash\nls | wc\nexit 1", "\n\n"),
        # Python stays as it is, whatever it looks like
        ("x = (a\n  %b)", "x = (a\n  %b)"),
        ('s = """\n%d!\n!x\n"""', 's = """\n%d!\n!x\n"""'),
        ('%cd x\ns = """\n%d\n!x\n"""', 'pass\ns = """\n%d\n!x\n"""'),
        ("def f(:\n    pass", "def f(:\n    pass"),
        ("", ""),
    ],
)
def test_magics_are_blanked_without_moving_lines(cell: str, python: str) -> None:
    assert without_magics(cell) == python
    assert python.count("\n") == cell.count("\n")


def test_cells_are_one_program_in_their_order() -> None:
    text, marks = program_of(["import torch\n", "x = 1\r\ny = 2", ""])
    assert text.split("\n") == ["", "# %%", "import torch", "", "# %%", "x = 1", "y = 2", "# %%", "", ""]
    assert marks == (1, 4, 7)


def test_what_ipython_has_as_a_builtin_is_there() -> None:
    text, _ = program_of(["display(1)"])
    exec(compile(ast.parse(text), "cells", "exec"), {})
    assert program_of(["self.display(1)"])[0].startswith("\n# %%")


def test_an_edit_of_a_cell_looks_at_that_cell_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cells there are, and however long one is: the program is made anew for each keystroke."""
    looked: list[str] = []

    def is_python(text: str) -> bool:
        looked.append(text)
        return False

    monkeypatch.setattr(notebook, "is_python", is_python)
    cells = [f"%time x = {number}\ny = x" for number in range(50)]
    program_of(cells)
    looked.clear()
    cells[20] += " + 1"
    program, _ = program_of([*cells, "!ls\n" + "(" * 3_000_000, "z = 1"])
    assert looked == [cells[20]]
    assert program.count("pass; ") == 50 and "(" * 3_000_000 in program
