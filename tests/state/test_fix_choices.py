"""What is learned from the fixes that a user takes: the order of the next ones, shown and cleared by a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command import Warm

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, FixKind
from compile_lens.fixes.habits import in_order
from compile_lens.fixes.verify import CandidateFix
from compile_lens.state.fix_choices import FixChoices, Learned

FINDING = Finding("GB0124", Kind.GRAPH_BREAK, Severity.WARNING, "", Place("a.py", 1, 1, 1, 2))
HELPS = FixEffect(FindingCounts(breaks=1), FindingCounts())


def candidate(
    rule: str, kind: FixKind = FixKind.CHANGE, effect: FixEffect | None = HELPS, tokens: int = 1
) -> CandidateFix:
    return CandidateFix(FINDING, Fix(rule, rule, (), kind), effect, tokens)


def order(learned: Learned) -> list[str]:
    offered = [
        candidate("small"),
        candidate("usual", tokens=9),
        candidate("untried", effect=None),
        candidate("ignore", FixKind.IGNORE, None),
    ]
    return [one.fix.rule for one in in_order(offered, learned)]


def test_what_was_taken_comes_first_among_what_helps_alike(tmp_path: Path) -> None:
    choices, root = FixChoices(tmp_path / "choices"), tmp_path / "a"
    assert order(choices.recall(root)) == ["small", "usual", "untried", "ignore"]
    for rule in ("usual", "untried", "untried", "ignore"):
        choices.take(root, "GB0124", rule)
    # a fix whose effect is known goes before one that is often taken, and one ignored finding is no habit
    assert order(choices.recall(root)) == ["usual", "small", "untried", "ignore"]
    choices.take(root, "GB0170", "small")
    assert order(choices.recall(root)) == ["usual", "small", "untried", "ignore"]
    for _ in range(3):
        choices.take(root, "GB0124", "ignore")
    assert order(choices.recall(root)) == ["ignore", "usual", "small", "untried"]
    assert order(choices.recall(tmp_path / "b")) == ["small", "usual", "untried", "ignore"]


def test_damaged_files_are_as_good_as_none(tmp_path: Path) -> None:
    choices = FixChoices(tmp_path)
    choices.take(tmp_path / "a", "GB0124", "usual")
    [file] = tmp_path.glob("*.json")
    for damaged in (
        "",
        "[]",
        '{"file": 3}',
        json.dumps({"file": str(tmp_path / "a"), "taken": {"GB0124": [1], "x": {"y": "z"}}}),
    ):
        file.write_text(damaged)
        assert choices.recall(tmp_path / "a").times("GB0124", "usual") == 0
        assert choices.workspaces() == () or damaged.endswith("}}}")


@pytest.mark.usefixtures("warm_command")
def test_a_command_shows_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(*arguments: str) -> Warm:
        return Warm(["choices", *arguments], tmp_path)

    assert run("list").out == "" and run("list").code == 0
    store = FixChoices(tmp_path / "compile-lens" / "fix-choices")
    for root, rule in ((tmp_path / "a", "usual"), (tmp_path / "a", "usual"), (tmp_path / "b", "ignore")):
        store.take(root, "GB0124", rule)
    assert json.loads(run("list", "--json").out) == {
        str(tmp_path / "a"): {"GB0124": {"usual": 2}},
        str(tmp_path / "b"): {"GB0124": {"ignore": 1}},
    }
    assert "GB0124: usual 2 times" in run("list").out
    assert run("clear").code == run("clear", "--all", "a").code == run("clear", "c").code == 2
    assert run("clear", "a").code == 0 and store.workspaces() == (tmp_path / "b",)
    assert run("clear", "--all").code == 0 and store.workspaces() == ()
    assert list((tmp_path / "compile-lens" / "fix-choices").glob("*.json")) == []
