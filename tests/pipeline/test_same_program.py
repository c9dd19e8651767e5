"""A text is the same program where only comments, docstrings and blank lines differ; everything else that a run depends on counts."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.agent.runtime.protocol import Depth
from compile_lens.analysis.outcome import Outcome, PassedOver, Status
from compile_lens.entries.entry import EntryChoice
from compile_lens.pipeline.same_program import is_same, is_same_program, surroundings_of, without_untried
from compile_lens.workers.job import Job

PROGRAM = '''\
"""A module."""
import torch

@torch.compile
def step(x, n=2):
    """Adds."""
    y = x + n  # adds
    name = f"{n:>3} # no comment"

    if n > 1:
        y = y * 2
    return y
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# adds", "# adds n"),
        ("  # adds", ""),
        ("    y = y * 2\n", "    # twice\n        y = y * 2\n"),
        ('"""Adds."""', '"""Adds n."""'),
        ("A module.", "A module:\nit adds."),
        ("\n\n    if", "\n    if"),
        ("y * 2\n", "y * 2   \n"),
    ],
)
def test_the_same(old: str, new: str) -> None:
    assert old in PROGRAM
    assert is_same_program(PROGRAM, PROGRAM.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + n", "x - n"),
        ("# no comment", "# none"),
        ("    return y", "return y"),
        ('    """Adds."""\n', ""),
        ("# adds", "# compile-lens: ignore"),
        ("        y = y * 2\n    return y", "        y = y * 2\n        return y"),
        ("name = ", "name = step.__doc__ or "),
        ("y * 2", "y * (2"),
        ('"""Adds."""', 'b"""Adds."""'),
        ('"""Adds."""', '"""\\Uses."""'),
        ('"""Adds."""', 'f"""{print(1)}"""'),
        ("", ""),
    ],
)
def test_another(old: str, new: str) -> None:
    assert not is_same_program(PROGRAM, PROGRAM.replace(old, new) if old else PROGRAM)


@pytest.mark.parametrize("text", ["x = '\ude00'", "\r😀"])
def test_what_the_tokenizer_of_some_pythons_fails_at_is_no_error(text: str) -> None:
    """An editor may send halves of a surrogate pair, and lines that end as they did on old Macs. Python 3.12 refuses both."""
    is_same = is_same_program(f"{text}  # one\n", f"{text}  # two\n")
    assert not is_same or sys.version_info < (3, 12)


@given(st.integers(0, len(PROGRAM)), st.text("abx=+-*#\"'\\ \n(1", min_size=1, max_size=6))
def test_what_python_reads_otherwise_is_never_the_same(at: int, inserted: str) -> None:
    changed = PROGRAM[:at] + inserted + PROGRAM[at:]
    if is_same_program(PROGRAM, changed):
        assert program_of(changed) == program_of(PROGRAM)


def program_of(text: str) -> str:
    """What Python reads ``text`` as, without lines and docstrings. (Its code also has a NOP where a blank line follows a decorator.)"""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if (
                ast.get_docstring(node) is not None
            ):
                del node.body[0]
    return ast.dump(tree)


def test_everything_else_that_a_run_depends_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import layers\nfrom models import net\n")
    (tmp_path / "layers.py").write_text("import blocks\n")
    (tmp_path / "blocks.py").write_text("")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.py").write_text("")
    job = Job(str(tmp_path / "train.py"), text="a = 1")
    none = EntryChoice(())
    first = surroundings_of(job, none, sys.executable)
    assert surroundings_of(replace(job, text="a = 2"), none, sys.executable) == first
    assert surroundings_of(replace(job, depth=Depth.INDUCTOR), none, sys.executable) != first
    assert surroundings_of(replace(job, env={"A": "1"}), none, sys.executable) != first
    assert surroundings_of(job, none, "/usr/bin/python3") != first
    for changed in ("layers.py", "blocks.py", "models/net.py"):
        now = surroundings_of(job, none, sys.executable)
        os.utime(tmp_path / changed, (1, 1))
        assert surroundings_of(job, none, sys.executable) != now, changed


def test_an_entry_that_nobody_tried_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a = 1\n")
    job = Job(str(tmp_path / "train.py"))
    ran, more = (
        replace(surroundings_of(job, EntryChoice(()), sys.executable), entries=entries)
        for entries in (("script", "model"), ("script", "recorded", "model"))
    )
    ended = Outcome(job.file, "python", "2.13", "dynamo", "script", Status.OK, 1.0)
    assert is_same(without_untried(ran, ended), more)
    assert not is_same(without_untried(more, ended), replace(ran, entries=("model",)))
    # what was tried in vain would be tried again
    tried = msgspec.structs.replace(
        ended, entry="model", passed_over=(PassedOver("script", "as a script", "nothing was compiled"),)
    )
    assert not is_same(without_untried(ran, tried), more)
