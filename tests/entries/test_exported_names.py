"""What `import *` binds is read from a module of Python, which is not run in our process: it may read a file of the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.entries.exported_names import exported_names

ASK = """\
import sys
from compile_lens.entries.effects import effect_names
from compile_lens.syntax.tree import parse
found = effect_names(parse(sys.argv[1]))
print({"forward", "Screen"} <= found, "turtle" in sys.modules)
"""


def test_no_module_is_run_for_its_names(tmp_path: Path) -> None:
    (tmp_path / "turtle.cfg").write_text("\x1b]0;forged\x07 no setting\n")
    ran = subprocess.run(
        [sys.executable, "-c", ASK, "from turtle import *\n\ndef draw():\n    forward(10)\n"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "True False\n"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("os", {"remove", "path"}),
        ("imaplib", {"IMAP4"}),
        ("_socket", {"socket"}),
        ("runpy", {"run_path"}),
        ("cgitb_", set()),
    ],
)
def test_names_of_modules(module: str, names: set[str]) -> None:
    assert names <= exported_names(module)
