"""Whether torch says the same without this project: each finding of a run beside a plain run of the same calls."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.plain_torch.process import Lost, PlainTorch, Said, recompiles_of
from benchmarks.plain_torch.script import plain_script
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import EntryChoice
from compile_lens.trace.report import CompileReport

AS_A_SCRIPT = "As a script: "
RAISED = (Kind.RUN_ERROR, Kind.COMPILE_ERROR)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Of ``findings``, how many the plain run had at the same lines, and each thing that only one of the two runs had, in words."""

    findings: int
    confirmed: int
    differences: tuple[str, ...]


def confirm(file: Path, choice: EntryChoice, outcome: Outcome, report: CompileReport, plain: PlainTorch) -> Confirmed:
    """Run what ``outcome`` is about under a plain torch, and compare."""
    count = len(outcome.findings)
    try:
        torchs = _run(plain, plain_script(file, choice, outcome))
        script = plain.run(file) if any(_is_of_script(found) for found in outcome.findings) else None
    except Lost as lost:
        return Confirmed(count, 0, (f"{lost}.",))
    judge = _Judge(torchs, script, report)
    missing = [found for found in outcome.findings if not judge.has(found)]
    only_ours = [f"only here: {_named(found)}" for found in missing]
    return Confirmed(count, count - len(missing), (*only_ours, *_only_plain(outcome, report, torchs)))


def _run(plain: PlainTorch, source: str) -> Said:
    with tempfile.TemporaryDirectory(prefix="plain-") as folder:
        script = Path(folder) / "plain.py"
        script.write_text(source, encoding="utf-8")
        return plain.run(script)


def _is_of_script(found: Finding) -> bool:
    return found.kind is Kind.RUN_ERROR and found.message.startswith(AS_A_SCRIPT)


class _Judge:
    """Compares findings with what torch said; each break counts for one finding."""

    def __init__(self, torchs: Said, script: Said | None, report: CompileReport) -> None:
        self._torchs = torchs
        self._script = script
        self._recompiles = Counter(map(_key, torchs.recompiles))
        self._by_id: dict[str, list[str]] = {}
        for recompile in recompiles_of(report):
            self._by_id.setdefault(recompile[0], []).append(_key(recompile))

    def has(self, found: Finding) -> bool:
        """Whether the plain run had ``found``: of the same kind, at the same line, and at least as often."""
        said, place = self._torchs, (found.place.file, found.place.line)
        if found.kind is Kind.GRAPH_BREAK:
            codes = (found.code, "" if found.code == "graph-break" else found.code)
            return sum(code in codes and place in stack for code, stack in said.broken) >= found.count
        if found.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
            is_there = all(any(self._recompiles[key] for key in self._by_id.get(i, ())) for i in found.frames)
            return is_there and (found.kind is Kind.RECOMPILE or said.hit_limit)
        if found.kind is Kind.SPECIALIZATION:
            return sum(place in stack for _, stack in said.fixed) >= found.count
        if found.kind is Kind.SIDE_EFFECT:
            line = f'File "{place[0]}", line {place[1]},'
            return sum(line in text for text in said.side_effects) >= found.count
        if found.kind in RAISED:
            ended = self._script if _is_of_script(found) else said
            return ended is not None and ended.raised != "" and (place in ended.where or ended.raised in found.message)
        return False


def _key(recompile: tuple[str, str, str, int, list[str]]) -> str:
    """A recompile without its number: function, place and the guards that failed."""
    return repr(recompile[1:])


def _only_plain(outcome: Outcome, report: CompileReport, torchs: Said) -> Iterator[str]:
    """What torch said and the product did not."""
    ours = Counter(found.code for found in outcome.findings for _ in range(found.count))
    told = Counter(code or "graph-break" for code, _ in torchs.broken)
    for code, count in told.items():
        if count > ours[code] and not outcome.hidden:
            yield f"only plain: {count - ours[code]} more of {code}"
    known = Counter(map(_key, recompiles_of(report)))
    for key, count in (Counter(map(_key, torchs.recompiles)) - known).items():
        yield f"only plain: {count} recompile {key}"


def _named(found: Finding) -> str:
    return f"{found.code} at {Path(found.place.file).name}:{found.place.line} ({found.count}×): {found.message}"
