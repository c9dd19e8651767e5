"""The file of known findings: what it holds, and what it says when it cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.diff.baseline import BaselineError, baseline_text, read_baseline
from compile_lens.diff.identity import Identity

ONE = Identity("a.py", "graph-break", "GB0059", "f", "print(x)", "Graph break.")
OTHER = Identity("a.py", "recompile", "recompile", "", "def g(x):", "Recompiled `g`: `n` changed.")


def test_what_is_written_is_read_again_whatever_the_order(tmp_path: Path) -> None:
    file = tmp_path / "compile-lens.json"
    file.write_text(baseline_text({"b.py": (ONE,), "a.py": (OTHER, ONE)}))
    assert read_baseline(file) == {"a.py": (ONE, OTHER), "b.py": (ONE,)}
    assert file.read_text() == baseline_text({"a.py": (ONE, OTHER), "b.py": (ONE,)})
    assert '"line"' not in file.read_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no such file. To make it, add --update-baseline."),
        ("{", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"version": 1, "runs": [{"file": 3}]}', "is not a baseline"),
        ('{"version": 9, "runs": []}', "is a baseline of version 9"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "compile-lens.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BaselineError, match=said):
        read_baseline(file)
