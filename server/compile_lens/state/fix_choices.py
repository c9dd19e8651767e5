"""Keeps which fixes were taken in a workspace and which findings were ignored, so that the next ones come in that order.

One small file for each workspace, on this machine alone. It has codes, rules and counts: no text of any file.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.state.file_memory import FileMemory
from compile_lens.user_folders import state_folder

# the rule of a fix that accepts its finding (fixes/rewrites/ignore.py)
IGNORE = "ignore"
# from so many ignored findings on, the code is one that the user does not want to hear of
HABIT = 2


@dataclass(frozen=True, slots=True)
class Learned:
    """How often each rule was taken, by the code of the finding."""

    taken: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def times(self, code: str, rule: str) -> int:
        """How often a fix by ``rule`` was taken for a finding with ``code``."""
        return self.taken.get(code, {}).get(rule, 0)

    def ignores(self, code: str) -> bool:
        """Whether findings with ``code`` are ignored here as a rule."""
        ignored = self.times(code, IGNORE)
        fixed = sum(times for rule, times in self.taken.get(code, {}).items() if rule != IGNORE)
        return ignored >= HABIT and ignored > fixed


@dataclass(frozen=True, slots=True)
class FixChoices:
    """What was chosen in each workspace, in ``folder``."""

    folder: Path

    @staticmethod
    def of_user() -> FixChoices:
        """The choices of the user who runs this process."""
        return FixChoices(state_folder() / "fix-choices")

    def recall(self, root: Path) -> Learned:
        """What was chosen in the workspace ``root``; nothing where that cannot be read."""
        return _learned(FileMemory(self.folder).recall(str(root)).get("taken"))

    def take(self, root: Path, code: str, rule: str) -> None:
        """Count one more fix by ``rule``. A full disk costs the order of the next ones, and nothing else."""
        known = {name: dict(rules) for name, rules in self.recall(root).taken.items()}
        rules = known.setdefault(code, {})
        rules[rule] = rules.get(rule, 0) + 1
        with contextlib.suppress(OSError):
            FileMemory(self.folder).remember(str(root), {"taken": known})

    def workspaces(self) -> tuple[Path, ...]:
        """The workspaces of which anything is known."""
        found = []
        for file in self.folder.glob("*.json"):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                found.append(Path(json.loads(read_regular(file))["file"]))
        return tuple(sorted(root for root in found if self.recall(root).taken))

    def forget(self, root: Path) -> None:
        """Forget what was chosen in ``root``. Raises OSError where it cannot be deleted."""
        FileMemory(self.folder).remember(str(root), {})


def _learned(taken: object) -> Learned:
    if not isinstance(taken, dict):
        return Learned()
    return Learned(
        {
            code: {rule: times for rule, times in rules.items() if isinstance(times, int)}
            for code, rules in taken.items()
            if isinstance(rules, dict)
        }
    )
