"""A script has so many seconds until its models are known: what it imports does not count, and a script that needs more is told so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

SECONDS = 0.2
SLOW = """\
import time

end = time.process_time() + 1.0
while time.process_time() < end:
    pass
"""
TRAIN = """\
import torch
{before}

net = torch.nn.Linear(4, 2)
for batch in open("missing/data.txt"):
    net(batch).sum().backward()
"""


def test_what_is_imported_takes_none_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(str(tmp_path))
    guard_module, continuing = agent_module("inputs.scripts.guard"), agent_module("inputs.scripts.continuing")
    guard = guard_module.Guard(SECONDS, print, print)
    code = continuing.rewritten(
        "import slow_to_import\nguard.check_time()\nreached.append('behind the import')\nwhile True: pass\n",
        "script.py",
    )
    with pytest.raises(guard_module.Enough):
        exec(code, {continuing.GUARD: guard, "guard": guard, "reached": (reached := [])})
    assert reached == ["behind the import"] and guard.is_over


@pytest.mark.parametrize(
    ("before", "is_analyzed"),
    [("import slow_to_import", True), (SLOW.replace("import time", "import time, os"), False)],
)
def test_a_model_behind_a_slow_import_is_analyzed(
    tmp_path: Path, warm_host: WarmHost, before: str, is_analyzed: bool
) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    (tmp_path / "train.py").write_text(TRAIN.format(before=before))
    choice = choose(str(tmp_path / "train.py"), (tmp_path / "train.py").read_text(), None, "model")
    hasty = [replace(entry, plan=replace(entry.plan, seconds=SECONDS)) for entry in choice.entries]
    outcome = warm_host.run_choice(str(tmp_path / "train.py"), replace(choice, entries=tuple(hasty)))
    assert bool(outcome.graphs) is is_analyzed
    told = "The entry model cannot be used: it built no model within 0.2 s."
    assert (outcome.failure == told) is not is_analyzed, outcome.failure
