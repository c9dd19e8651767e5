"""A run that lowers how soon the kernel ends it when memory runs out gets that back, and is ended if it goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime import budget as budget_of_a_tree
from compile_lens.agent.runtime.budget import TreeBudget
from compile_lens.agent.runtime.disk_growth import DiskGrowth
from compile_lens.agent.runtime.ended_first import FIRST, MOST_LOOKS, EndedFirst
from compile_lens.agent.runtime.protocol import SandboxKind, SandboxSpec

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


@pytest.fixture
def child() -> Iterator[int]:
    """A process that began as others of the user do."""
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


def score(pid: int) -> Path:
    return Path(f"/proc/{pid}/oom_score_adj")


def lower(pid: int) -> None:
    try:
        score(pid).write_text("0")
    except PermissionError:
        pytest.skip("this user may not lower what root has raised")


def test_what_a_process_lowers_is_put_back(child: int) -> None:
    first = EndedFirst()
    for _ in range(3):
        lower(child)
        assert not first.is_undone([child])
        assert score(child).read_text() == f"{FIRST}\n"
    assert not any(first.is_undone([child]) for _ in range(2 * MOST_LOOKS))
    score(child).write_text(str(FIRST))
    assert not first.is_undone([child, 1 << 22])


def test_who_lowers_it_again_and_again_is_ended(child: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SandboxSpec(SandboxKind.LANDLOCK, "/none", (), (), False, True, 0, 0, 0, 0, 0)
    budget = TreeBudget(spec, "landlock", None, None, DiskGrowth((), (), 0))
    monkeypatch.setattr(budget_of_a_tree.processes, "tree_of_run", lambda: iter([child]))
    for _ in range(MOST_LOOKS):
        lower(child)
        assert budget.exceeded(child) == ""
    lower(child)
    assert budget.exceeded(child) == "order"
    assert score(child).read_text() == f"{FIRST}\n"
