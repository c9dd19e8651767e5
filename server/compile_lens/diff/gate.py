"""Leaves the findings that are new: what a check fails by when it compares with a baseline or an earlier revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.kinds import Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.diff.baseline import Known
from compile_lens.diff.identity import Identity, TreeOf, identify, relative
from compile_lens.diff.matching import match
from compile_lens.wording import counted

# what these say depends on the machine, its load and its caches: the same commit may have them or not
KINDS_OF_THE_MACHINE = frozenset({Kind.STAND_IN, Kind.REFUSED, Kind.PREDICTION, Kind.UNUSED_IGNORE})
CODES_OF_THE_MACHINE = frozenset({"compile-time", "slow-guards", "cache-bypass", "cache-miss", "cache-off"})


def depends_on_code(finding: Finding) -> bool:
    """Whether a change of the code is what makes ``finding`` appear or go."""
    return finding.kind not in KINDS_OF_THE_MACHINE and finding.code not in CODES_OF_THE_MACHINE


class Gate:
    """Compares outcomes with what was known before: ``judge`` each, then ``remaining`` and ``found`` are what to remember.

    ``where`` names what is known in notes ("compile-lens.json", "HEAD~1"). ``exists`` says of a file relative to ``root`` whether it is
    there: what was known of a file that is gone may belong to one that was renamed.
    """

    def __init__(self, known: Known, tree_of: TreeOf, root: str, where: str, exists: Callable[[str], bool]) -> None:
        self.known = known
        self._tree_of = tree_of
        self._root = root
        self._where = where
        self._exists = exists
        self._left = {file: findings for file, findings in known.items() if not exists(file)}
        self._found: dict[str, Counter[Identity]] = {}
        self._seen: dict[str, set[int]] = {}
        self._incomplete: set[str] = set()

    def afresh(self, tree_of: TreeOf) -> Gate:
        """One that compares with the same, for another round of runs."""
        return Gate(self.known, tree_of, self._root, self._where, self._exists)

    def judge(self, outcome: Outcome) -> Outcome:
        """``outcome`` with its new findings alone, and a note of the others. Findings that are due to the machine are left out, too."""
        if outcome.status is Status.FAILED:
            return outcome
        file = relative(outcome.file, self._root)
        own = self.known.get(file, ())
        moved = tuple(one for findings in self._left.values() for one in findings)
        subjects = [finding for finding in outcome.findings if depends_on_code(finding)]
        found = tuple(identify(finding, self._tree_of, self._root) for finding in subjects)
        matched = match((*own, *moved), found)
        # a file may run by several entries: a finding is known if any of them has it
        self._found[file] = self._found.get(file, Counter()) | Counter(found)
        self._seen.setdefault(file, set()).update(earlier for earlier, _ in matched.pairs if earlier < len(own))
        if outcome.status is not Status.OK:
            self._incomplete.add(file)
        new = {id(subjects[index]) for index in matched.new}
        notes = outcome.notes
        if matched.pairs:
            notes += (f"Not shown: {counted(len(matched.pairs), 'finding')} already in {self._where}.",)
        return replace(
            outcome,
            findings=tuple(finding for finding in outcome.findings if id(finding) in new),
            known=len(matched.pairs),
            notes=notes,
        )

    @property
    def found(self) -> Known:
        """What is known after the runs, the new findings included."""
        kept = {file: findings for file, findings in self.known.items() if file not in self._left}
        return kept | {file: tuple(counter.elements()) for file, counter in self._found.items() if counter}

    @property
    def remaining(self) -> Known:
        """What was known and is still there. Of a run that did not reach its end, and of files that were not run, everything is."""
        complete = self._seen.keys() - self._incomplete
        kept = {
            file: tuple(one for index, one in enumerate(findings) if file not in complete or index in self._seen[file])
            for file, findings in self.known.items()
        }
        return {file: findings for file, findings in kept.items() if findings}
