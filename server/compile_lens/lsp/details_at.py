"""The details at the cursor: the findings of its line, what the last run did with the region around it, and its recompiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, Recompiled
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.convert import from_position, sentence, uri_from_path
from compile_lens.lsp.detail_blocks import (
    Block,
    Piece,
    actions,
    code,
    code_piece,
    heading,
    items,
    pieces,
    place_piece,
    prose,
    table,
    text,
)
from compile_lens.lsp.fixes import Fixes
from compile_lens.lsp.internal_frames import without_internal_frames
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import finding_markdown, is_compile_time, region_markdown
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.results import RegionOutcome
from compile_lens.pipeline.run_history import RunHistory
from compile_lens.syntax.regions import Region
from compile_lens.wording import counted

WITH_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)


class DetailsAt:
    """Answers from what is known, so that the answer fits the version that the editor means. Nothing runs."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        fixes: Fixes,
        predictions: Predictions,
        history: RunHistory,
        stages: StageWords,
    ) -> None:
        self._server, self._runs, self._fixes = server, runs, fixes
        self._predictions, self._history, self._stages = predictions, history, stages

    def at(self, snapshot: Snapshot, line: int, character: int) -> dict[str, Any]:
        """The title, the blocks, and the same as Markdown. The position is one of the protocol."""
        position = from_position(types.Position(line, character))
        number, column = snapshot.index.point(position, self._server.editor.encoding)
        title = f"{Path(snapshot.path or snapshot.uri).name}, {self._server.notebooks.spot(snapshot.uri, number)}"
        findings = sorted(self._findings(snapshot, number), key=lambda one: not _holds(one.place, number, column))
        blocks: list[Block] = []
        markdown: list[str] = []
        for finding in findings:
            blocks += self._finding(snapshot, finding)
            markdown.append(finding_markdown(finding, self._uri, whole=True))
        result, region = self._around(snapshot, number)
        if result is not None and region is not None:
            blocks += self._region(snapshot, result, region, findings)
            markdown.append(region_markdown([result]))
        blocks += self._changes(snapshot) if blocks else ()
        return {"title": title, "blocks": blocks, "markdown": "\n\n---\n\n".join(markdown)}

    def _findings(self, snapshot: Snapshot, line: int) -> Iterator[Finding]:
        if snapshot.path is None:
            return
        known = self._server.results.findings(file_key(snapshot.path))
        for finding in (*known, *self._predictions.current(snapshot)):
            if finding.place.line <= line <= finding.place.end_line:
                yield finding

    def _finding(self, snapshot: Snapshot, finding: Finding) -> Iterator[Block]:
        code_shown = finding.code if finding.code != finding.kind.value else ""
        yield heading(finding.kind.row.title, code_shown, finding.severity.value)
        yield text(pieces(sentence(finding)))
        recompiles = finding.recompiles if finding.kind in WITH_RECOMPILES else ()
        # the table says the rest
        head = finding.explanation.partition("\n")[0].removesuffix(":")
        yield from [text(pieces(f"{head}."))] if recompiles and head else prose(finding.explanation)
        commands = self._fixes.commands(snapshot, finding)
        if finding.hints:
            yield items("What to do", [pieces(hint) for hint in finding.hints])
        if commands:
            yield actions(commands)
        if finding.cost:
            yield text([{"text": "Cost: "}, *pieces(finding.cost)])
        if recompiles:
            yield self._recompiles("Recompiles", recompiles, finding.place.file)
        if finding.call_path:
            yield items("Call path", [self._level(site) for site in finding.call_path])
        for entry in () if recompiles else finding.related:
            yield text([*pieces(f"{entry.message} "), self._link(entry.place)])
        if not recompiles and (detail := without_internal_frames(finding.detail).strip("\n")):
            yield code(detail, "Evidence")
        if finding.url:
            yield text([{"text": f"More about {finding.code}", "url": finding.url}])

    def _recompiles(self, title: str, recompiles: Sequence[Recompiled], file: str) -> Block:
        rows = [
            (
                [code_piece(entry.compile_id)],
                pieces(entry.change),
                [self._link(entry.place, file)] if entry.place is not None else [],
                [code_piece(entry.guard)] if entry.guard else [],
            )
            for entry in recompiles
        ]
        return table(title, ("Compile", "What changed", "Called at", "Guard that failed"), rows)

    def _around(self, snapshot: Snapshot, line: int) -> tuple[RegionOutcome | None, Region | None]:
        """What the last run did with the innermost region that ``line`` is in."""
        around = [region for region in self._runs.regions(snapshot) if _contains(region, line)]
        if not around or snapshot.path is None:
            return None, None
        region = max(around, key=lambda region: (region.line, region.column))
        where = (region.line, region.column)
        known = self._server.results.regions(file_key(snapshot.path))
        found = (result for result in known if (result.summary.place.line, result.summary.place.column) == where)
        return next(found, None), region

    def _region(
        self, snapshot: Snapshot, result: RegionOutcome, region: Region, shown: Sequence[Finding]
    ) -> Iterator[Block]:
        summary, outcome = result.summary, result.outcome
        yield heading(f"Region `{region.name}`")
        if not summary.frames:
            yield text(pieces("Not compiled in the last run."))
            return
        facts = [
            ("Graphs", str(summary.graphs)),
            ("Graph breaks", str(summary.breaks)),
            ("Recompiles", str(summary.recompiles)),
            ("Frames", ", ".join(summary.frames)),
        ]
        if is_compile_time(summary, outcome):
            facts.append(("Compile time", f"{summary.compile_time_s:.2f} s"))
        ran = f"{outcome.duration_s:.1f} s, depth {outcome.depth}"
        facts.append(("Last run", f"{ran}, torch {outcome.torch}" if outcome.torch else ran))
        if stages := self._stages.of_region(snapshot, region):
            facts.append(("Stages", stages))
        yield table("", ("", ""), [([{"text": fact}], [{"text": value}]) for fact, value in facts])
        if self._server.trusted:
            yield actions([self._stages.command(snapshot.uri, region.line, "Open compiler stages…")])
        frames = set(summary.frames)
        others = [
            entry
            for finding in self._server.results.findings(file_key(snapshot.path or ""))
            if finding.kind in WITH_RECOMPILES and finding not in shown and frames.intersection(finding.frames)
            for entry in finding.recompiles
        ]
        if others:
            yield self._recompiles("Recompiles of this region", others, summary.place.file)

    def _changes(self, snapshot: Snapshot) -> Iterator[Block]:
        """What the last run found that the one before did not, and the other way round."""
        runs = self._history.of(snapshot.uri)
        changes = runs[0].changes if runs else None
        if changes is None or not (changes.new or changes.gone):
            return
        rows = [
            ([{"text": word}], [{"text": str(one.line)}], pieces(one.identity.message))
            for word, found in (("new", changes.new), ("gone", changes.gone))
            for one in found
        ]
        number = counted(len(rows), "change")
        yield table(f"{number} since the previous run", ("", "Line", "Finding"), rows)

    def _level(self, site: CallSite) -> list[Piece]:
        told = [self._link(site.place), {"text": " in "}, code_piece(site.function)]
        return [*told, {"text": ": "}, code_piece(site.text)] if site.text.strip() else told

    def _link(self, place: Place, known_file: str = "") -> Piece:
        """A link to a line. ``known_file`` is one that need not be named."""
        notebooks, uri = self._server.notebooks, self._uri(place.file)
        is_named = place.file == known_file or notebooks.is_notebook(uri)
        label = notebooks.spot(uri, place.line) if is_named else f"{Path(place.file).name}:{place.line}"
        cell, line = notebooks.in_cell(uri, max(place.line - 1, 0))
        return place_piece(label, cell, line)

    def _uri(self, file: str) -> str:
        return uri_from_path(file, self._server.sources)


def _contains(region: Region, line: int) -> bool:
    if region.line <= line <= region.end_line:
        return True
    return region.target_line is not None and region.target_line <= line <= (region.target_end_line or 0)


def _holds(place: Place, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) <= (place.end_line, place.end_column)
