"""Code lenses above each compile region and compiled function: what the last run did with it. A click on a result shows its details."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from lsprotocol import types

from compile_lens.analysis.finding import Finding, Kind, Place, RegionSummary, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.documents.moves import is_touched
from compile_lens.entries.entry import SCRIPT
from compile_lens.lsp.commands import ANALYZE, CELL
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.consent_question import ConsentQuestion
from compile_lens.lsp.details import DETAILS
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.entries import AS_IF_COMPILED, CHOOSE
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import is_compile_time
from compile_lens.lsp.refresh import Refresh
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.sandbox_actions import KEEP_WRITES, by_folder
from compile_lens.pipeline.results import RegionOutcome
from compile_lens.shown_text import label
from compile_lens.syntax.definitions import definition_at, definitions
from compile_lens.syntax.regions import Region, RegionKind
from compile_lens.wording import and_more, counted

ANALYZING = "analyzing…"
NOT_RUN = "not analyzed"
NOT_REACHED = "not reached in the last run"
ANALYZED = "analyzed"
CHANGED = "changed since the last run"
AS_IF = "Analyze as if compiled"
IF_COMPILED = "If compiled"
UP_TO_CELL = "Analyze up to this cell"
LONGEST_CALL = 110
MAX_NAMED = 3
# of a long document; after more of them, every lens says that its lines may have changed
MOST_EDITS = 200


class Lenses:
    """Answers synchronously from the results, so that the answer fits the version that the editor means."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        facts: DocumentFactsOf,
        question: ConsentQuestion,
        stages: StageWords,
    ) -> None:
        self._stages = stages
        self._server = server
        self._runs = runs
        self._facts = facts
        self._question = question
        self._refresh = Refresh(server, lambda: server.workspace_code_lens_refresh_async(None))
        server.on(types.TEXT_DOCUMENT_CODE_LENS, self._on_lens)
        runs.on_change(self.refresh)

    def refresh(self) -> None:
        """Have the editor ask again."""
        if self._server.editor.refreshes_lenses:
            self._refresh.request()

    def _on_lens(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        snapshot = self._server.documents.get(params.text_document.uri)
        self._server.documents.looked_at(params.text_document.uri)
        if snapshot is None or not self._server.settings.lenses.enabled:
            return []
        regions = self._runs.regions(snapshot) if snapshot.is_python else ()
        of_stages = [_command_lens(line, command) for line, command in self._stages.lenses(snapshot, regions)]
        if not snapshot.is_python:
            return of_stages
        titles = list(self._titles(snapshot))
        taken = {line for line, _ in titles}
        covered = list(self._coverage(snapshot, taken))
        return [
            *(_result_lens(snapshot, line, title) for line, title in titles),
            *of_stages,
            *self._entry(snapshot, titles),
            *self._question.lenses(snapshot, ANALYZE),
            *self._discarded(snapshot, titles),
            *(lens for _, lens in covered),
            *self._candidates(snapshot, taken | {line for line, _ in covered}),
            *(_lens(line, UP_TO_CELL, CELL, [snapshot.uri, str(line)]) for line in self._facts.of(snapshot).cells),
        ]

    def _entry(self, snapshot: Snapshot, titles: list[tuple[int, str]]) -> Iterator[types.CodeLens]:
        """How the last run entered the file, above its first lens. Nothing for a script that ran at once, unless the user chose it."""
        outcome = self._server.results.outcome(snapshot.uri)
        if outcome is None or not outcome.final or not titles:
            return
        is_chosen = bool(snapshot.path) and bool(self._runs.entries.memory.recall(str(snapshot.path)))
        if outcome.entry == SCRIPT and not outcome.passed_over and not is_chosen:
            return
        first = next((call for call in outcome.calls if call.making and call.inputs), None)
        with_what = f": {first.making} on {first.inputs}" if first is not None else ""
        more = and_more(len(outcome.calls) - 1) if first is not None else ""
        title = f"Analyzed with {outcome.entry_title.replace('`', '')}{_shortened(with_what)}{more} · change"
        yield _lens(min(line for line, _ in titles), title, CHOOSE, [snapshot.uri])

    def _coverage(self, snapshot: Snapshot, taken: set[int]) -> Iterator[tuple[int, types.CodeLens]]:
        """Above each class and function of a file whose calls are made up: whether one of them ran it."""
        outcome = self._server.results.outcome(snapshot.uri)
        if outcome is None or not outcome.final or outcome.coverage is None or self._runs.is_active(snapshot.uri):
            return
        tree = self._facts.tree(snapshot)
        if tree is None:
            return
        now = {d.qualified_name: d for d in definitions(tree)}
        for unit in outcome.coverage.units:
            definition = now.get(unit.name)
            if definition is None:
                continue
            line = definition.def_line
            if not taken.isdisjoint(range(definition.first_line, line + 1)):
                continue  # its own lens, or that of its decorator, says more
            if self._is_changed(snapshot, definition.first_line, definition.last_line):
                yield line, _lens(line, CHANGED, ANALYZE, [snapshot.uri])
            elif unit.is_analyzed and self._answer(snapshot, unit.name) is None:
                yield line, _result_lens(snapshot, line, ANALYZED)
            else:
                offer = f"{NOT_RUN}: {_shortened(unit.reason)}"
                yield line, self._if_compiled(snapshot, line, unit.name, offer)

    def _discarded(self, snapshot: Snapshot, titles: list[tuple[int, str]]) -> Iterator[types.CodeLens]:
        """What the last run wrote for nothing, with an offer to keep it from now on: one for each folder, which it names."""
        outcome = self._server.results.outcome(snapshot.uri)
        if outcome is None or not outcome.final or not outcome.discarded or not titles or snapshot.path is None:
            return
        line, root = min(line for line, _ in titles), self._server.root_of(snapshot.path)
        left = list(outcome.discarded)
        for folder, written in by_folder(outcome.discarded, Path(snapshot.path).parent, root).items():
            left = [name for name in left if name not in written]
            place = folder.relative_to(root).as_posix()
            keep = "this workspace" if place == "." else f"{place}/"
            yield _lens(line, f"{_told(written)} · keep writes to {keep}", KEEP_WRITES, [snapshot.uri, str(folder)])
        if left:
            yield _lens(line, _told(left), DETAILS, [snapshot.uri])

    def _candidates(self, snapshot: Snapshot, taken: set[int]) -> Iterator[types.CodeLens]:
        """Above each function and module that is not compiled yet: an offer to analyze it as if it were."""
        if not self._server.settings.lenses.candidates:
            return
        for line, name in self._facts.of(snapshot).candidates:
            if line not in taken:
                yield self._if_compiled(snapshot, line, name, AS_IF)

    def _if_compiled(self, snapshot: Snapshot, line: int, name: str, offer: str) -> types.CodeLens:
        """What an analysis "as if compiled" found, or an offer of one."""
        answer = self._answer(snapshot, name)
        if answer is None:
            return _lens(line, offer, AS_IF_COMPILED, [snapshot.uri, name])
        return _lens(line, answer, DETAILS, [snapshot.uri, str(line)])

    def _answer(self, snapshot: Snapshot, name: str) -> str | None:
        """What an analysis "as if compiled" of the present text found."""
        outcome = self._server.results.outcome(snapshot.uri, name)
        if outcome is None or self._runs.last.text(snapshot.uri, name) != snapshot.text:
            return None
        if outcome.status is Status.FAILED:
            return f"{IF_COMPILED}: no inputs were found"
        counts = [
            counted(sum(getattr(function, part) for function in outcome.functions), noun)
            for part, noun in (("graphs", "graph"), ("breaks", "break"), ("recompiles", "recompile"))
            if any(getattr(function, part) for function in outcome.functions)
        ]
        call = next((call for call in outcome.calls if call.making and call.inputs), None)
        inputs = f" · {call.making} on {call.inputs}" if call is not None else ""
        return f"{IF_COMPILED}: {' · '.join(counts) or 'no graph'}{_shortened(inputs)}"

    def _titles(self, snapshot: Snapshot) -> Iterator[tuple[int, str]]:
        """Line and title of each lens. Results are shown only for lines that have not changed since the run."""
        assert snapshot.path is not None
        results, key = self._server.results, file_key(snapshot.path)
        found = results.findings(key, with_beside=False)
        failed = {frame for f in found if f.kind is Kind.COMPILE_ERROR for frame in f.frames}
        outcome = results.outcome(snapshot.uri)
        unreached = _unreached(outcome, key, results.regions(key), found)
        active = self._runs.is_active(snapshot.uri)
        regions = self._runs.regions(snapshot)
        known = {(r.summary.place.line, r.summary.place.column): r for r in results.regions(key)}
        skipped = {(f.place.line, f.place.column): f for f in found if f.kind is Kind.NOT_COMPILED}
        for region in regions:
            place = (region.line, region.column)
            first, last = region.target_line or region.line, region.target_end_line or region.end_line
            changed = not active and self._is_changed(snapshot, first, last)
            result, why = known.get(place), skipped.get(place)
            yield region.line, CHANGED if changed else _region_title(result, why, active, failed) or unreached
        functions = [r for r in results.functions(key) if not _is_target_of_decorator(r.summary, regions)]
        tree = self._facts.tree(snapshot) if functions else None
        for result in functions:
            line = result.summary.place.line
            function = definition_at(tree, line) if tree is not None else None
            if function is not None:
                changed = not active and self._is_changed(snapshot, function.first_line, function.last_line)
                yield line, CHANGED if changed else _title(result, active, failed)

    def _is_changed(self, snapshot: Snapshot, first: int, last: int) -> bool:
        """Whether these lines differ from the text that was run."""
        ran = self._runs.last.snapshot(snapshot.uri)
        if ran is None or ran.index is snapshot.index:
            return False
        if self._facts.is_long(snapshot):
            edits = self._server.documents.edits_since(snapshot.uri, ran.version)
            return edits is None or len(edits) > MOST_EDITS or is_touched(Place("", first, 1, last, 1), edits)
        lines = [snapshot.index.line(number) for number in range(first - 1, last)]
        return "\n".join(lines) not in ran.text.replace("\r\n", "\n")


def _lens(line: int, title: str, command: str, arguments: list[str]) -> types.CodeLens:
    return _command_lens(line, types.Command(title=title, command=command, arguments=list(arguments)))


def _command_lens(line: int, command: types.Command) -> types.CodeLens:
    place = types.Range(types.Position(line - 1, 0), types.Position(line - 1, 0))
    said = types.Command(title=label(command.title), command=command.command, arguments=command.arguments)
    return types.CodeLens(range=place, command=said)


def _told(discarded: Sequence[str]) -> str:
    names = _shortened(", ".join(os.path.basename(name) for name in discarded[:MAX_NAMED]))  # noqa: PTH119
    return f"Sandbox: discarded {names}{and_more(len(discarded) - MAX_NAMED)}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_CALL else f"{text[: LONGEST_CALL - 1]}…"


def _result_lens(snapshot: Snapshot, line: int, title: str) -> types.CodeLens:
    """What there is to see is shown by a click; what is not known, or out of date, is found out by one."""
    if title in (NOT_RUN, CHANGED):
        return _lens(line, title, ANALYZE, [snapshot.uri])
    return _lens(line, title, DETAILS, [snapshot.uri, str(line)])


def _unreached(outcome: Outcome | None, key: str, known: Sequence[RegionOutcome], found: Sequence[Finding]) -> str:
    """What to show above a region of the file ``key`` that has no result in ``known``, from the document's own ``outcome``."""
    if outcome is None or not outcome.final or outcome.status is Status.FAILED:
        return NOT_RUN
    ran = sum(file_key(region.place.file) == key for region in outcome.regions)
    if ran > sum(result.outcome is outcome for result in known):
        # an edit withdrew the result of a region, even if a later one restored its text
        return CHANGED
    return _not_reached(found)


def _not_reached(found: Sequence[Finding]) -> str:
    ended = next((f for f in found if f.kind is Kind.RUN_ERROR and f.severity is Severity.ERROR), None)
    return f"not reached: the run ended at line {ended.place.line}" if ended is not None else NOT_REACHED


def _region_title(
    result: RegionOutcome | None, skipped: Finding | None, active: bool, failed: Collection[str]
) -> str | None:
    if result is not None and result.summary.frames and (result.summary.graphs or skipped is None):
        return _title(result, active, failed)
    if active:
        return ANALYZING
    if skipped is not None:
        # the finding's sentence is "…: REASON." (analysis/not_compiled.py)
        reason = skipped.message.partition(": ")[2].rstrip(".")
        return f"not compiled: {reason}" if skipped.severity is Severity.HINT else f"skipped: {reason}"
    return None


def _title(result: RegionOutcome, active: bool, failed: Collection[str] = ()) -> str:
    """``2 graphs · 1 break · 3 recompiles · 1.2 s``. While a run is pending or active, it replaces the old result."""
    summary = result.summary
    if active and result.outcome.final:
        return ANALYZING
    has_failed = not set(failed).isdisjoint(summary.frames)
    parts = [counted(summary.graphs, "graph")] if summary.graphs else []
    if has_failed:
        parts.append("compile error")
    if summary.breaks:
        parts.append(counted(summary.breaks, "break"))
    if summary.recompiles:
        parts.append(counted(summary.recompiles, "recompile"))
    if not summary.graphs and not has_failed:
        parts.insert(0, "no graph")
    elif len(parts) == 1 and not has_failed:
        parts.insert(0, "compiled ✓")
    if is_compile_time(summary, result.outcome):
        parts.append(f"{summary.compile_time_s:.1f} s")
    if result.outcome.status is Status.IDLE:
        parts.append("run stopped early")
    return " · ".join([*parts, ANALYZING] if active else parts)


def _is_target_of_decorator(function: RegionSummary, regions: tuple[Region, ...]) -> bool:
    """Whether the function has the lens of its decorator already."""
    return any(
        region.kind is RegionKind.DECORATOR
        and region.name == function.name
        and (region.target_line or 0) <= function.place.line <= (region.target_end_line or 0)
        for region in regions
    )
