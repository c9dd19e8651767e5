"""Builds the tree of findings: files, the regions in them, and what the last run found in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lsprotocol import types

from compile_lens.analysis.finding import Finding, Place, RegionSummary
from compile_lens.analysis.finding_regions import is_of_region
from compile_lens.analysis.outcome import Status
from compile_lens.diff.comparison import AnalysisComparison, Located
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.commands import ANALYZE
from compile_lens.lsp.compiler_stages.told import StageWords
from compile_lens.lsp.convert import path_from_uri, sentence, to_range, uri_from_path
from compile_lens.lsp.details import DETAILS
from compile_lens.lsp.fixes import Fixes
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.markdown import is_compile_time
from compile_lens.lsp.repros import REGION, WRITE_REPRO
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.tree_nodes import Node
from compile_lens.pipeline.results import RegionOutcome
from compile_lens.pipeline.run_history import PastRun, RunHistory
from compile_lens.syntax.regions import Region
from compile_lens.wording import counted

ENDS = {
    Status.RAISED: "the program raised an exception",
    Status.TIMEOUT: "stopped at the time limit",
    Status.KILLED: "the program was killed",
    Status.IDLE: "stopped early",
    Status.FAILED: "not analyzed",
}


class Tree:
    """Everything that is known now, as nodes."""

    def __init__(
        self, server: CompileLensServer, runs: Runs, fixes: Fixes, history: RunHistory, stages: StageWords
    ) -> None:
        self._server, self._runs, self._fixes, self._history = server, runs, fixes, history
        self._stages = stages
        self.traces: Callable[[], tuple[str, ...]] = tuple

    def files(self) -> tuple[Node, ...]:
        """Each open file with regions or findings, and other files that runs found something in, by path; then the open traces."""
        snapshots = {file_key(s.path): s for s in self._server.documents.all() if s.path is not None and s.is_python}
        keys = sorted(snapshots.keys() | self._server.results.files())
        nodes = (self._file(key, snapshots.get(key)) for key in keys)
        return (*(node for node in nodes if node is not None), *map(self._trace, self.traces()))

    def _trace(self, name: str) -> Node:
        """A trace of another run: its findings, which stand in the files, too."""
        results = self._server.results
        outcome, findings = results.outcome(name), results.of_run(name)
        path = path_from_uri(name.rpartition("#")[0])
        torch = f"torch {outcome.torch}" if outcome is not None and outcome.torch else ""
        told = (counted(len(findings), "finding") if findings else "no findings", torch)
        children = tuple(self._traced(name, finding) for finding in findings)
        label = Path(path).name if path is not None else name
        return Node("trace", name, label, " · ".join(part for part in told if part), children=children)

    def _traced(self, name: str, finding: Finding) -> Node:
        place = finding.place
        uri = uri_from_path(place.file, self._server.sources)
        where = to_range(place, self._server.sources.index(place.file), self._server.editor.encoding)
        identifier = f"{name}#{finding.code}@{place.file}:{place.line}:{place.column}"
        description = f"{Path(place.file).name}:{place.line}"
        return Node("traced", identifier, sentence(finding), description, finding.severity.value, uri=uri, range=where)

    def _file(self, key: str, snapshot: Snapshot | None) -> Node | None:
        findings = self._server.results.findings(key)
        regions = self._runs.regions(snapshot) if snapshot is not None else ()
        runs = self._history.of(snapshot.uri) if snapshot is not None else ()
        if not findings and not regions and not runs:
            return None
        path = snapshot.path if snapshot is not None and snapshot.path else findings[0].place.file
        uri = snapshot.uri if snapshot is not None else uri_from_path(path, self._server.sources)
        rest = list(findings)
        children = [self._region(uri, key, snapshot, region, rest) for region in regions]
        children += [self._finding(finding, snapshot) for finding in rest]
        if runs:
            children.append(_runs(uri, runs))
        active = "analyzing…" if self._runs.is_active(uri) else ""
        run = {"run": types.Command("Analyze again", ANALYZE, arguments=[uri])} if snapshot is not None else {}
        count = counted(len(findings), "finding") if findings else "no findings" if runs else "not analyzed"
        return Node("file", uri, Path(path).name, active or count, uri=uri, commands=run, children=tuple(children))

    def _region(self, uri: str, key: str, snapshot: Snapshot | None, region: Region, rest: list[Finding]) -> Node:
        """A region, with those of the findings in ``rest`` that are of it; they are taken out of ``rest``."""
        results = self._server.results
        where = (region.line, region.column)
        place = Place("", region.line, region.column, region.end_line, region.end_column)
        known = next((r for r in results.regions(key) if (r.summary.place.line, r.summary.place.column) == where), None)
        frames = set(known.summary.frames) if known is not None else set()
        mine = [finding for finding in rest if is_of_region(finding, region, frames)]
        rest[:] = [finding for finding in rest if finding not in mine]
        functions = [r for r in results.functions(key) if frames.intersection(r.summary.frames)]
        identifier = f"{uri}#{region.name}@{region.line}"
        children = [
            *self._graphs(identifier, functions),
            *self._stages_of(identifier, snapshot, region),
            *(self._finding(finding, snapshot) for finding in mine),
        ]
        commands = {
            "details": types.Command("Show details", DETAILS, arguments=[uri, str(region.line)]),
            "repro": types.Command("Write a repro", WRITE_REPRO, arguments=[uri, f"{REGION}{region.name}"]),
        }
        return Node(
            "region",
            identifier,
            region.name,
            _counts(known) if known is not None else "not analyzed",
            uri=uri,
            range=self._range(place, snapshot),
            commands=commands if known is not None else {},
            children=tuple(children),
        )

    def _stages_of(self, parent: str, snapshot: Snapshot | None, region: Region) -> Iterator[Node]:
        """What the compiler made of a region, if that was asked for."""
        told = self._stages.of_region(snapshot, region) if snapshot is not None else ""
        if snapshot is not None and told:
            opens = self._stages.command(snapshot.uri, region.line, "Open compiler stages…")
            yield Node("stages", f"{parent}#stages", "Stages", told, commands={"stages": opens})

    def _graphs(self, parent: str, functions: list[RegionOutcome]) -> Iterator[Node]:
        """The functions that a region compiled to graphs of their own."""
        with_graphs = [result for result in functions if result.summary.graphs]
        if not with_graphs:
            return
        number = sum(result.summary.graphs for result in with_graphs)
        children = [
            self._located(
                "graphs",
                f"{parent}#graphs#{result.summary.name}@{result.summary.place.line}",
                result.summary.name,
                f"{counted(result.summary.graphs, 'graph')} · {', '.join(result.summary.frames)}",
                result.summary,
            )
            for result in with_graphs
        ]
        yield Node("graphs", f"{parent}#graphs", "Graphs", str(number), children=tuple(children))

    def _located(self, kind: str, identifier: str, label: str, description: str, summary: RegionSummary) -> Node:
        place = summary.place
        index = self._server.sources.index(place.file)
        where = to_range(place, index, self._server.editor.encoding)
        uri = uri_from_path(place.file, self._server.sources)
        return Node(kind, identifier, label, description, uri=uri, range=where)

    def _finding(self, finding: Finding, snapshot: Snapshot | None) -> Node:
        place = finding.place
        uri = snapshot.uri if snapshot is not None else uri_from_path(place.file, self._server.sources)
        about = f"{finding.code}@{place.line}"
        commands = {}
        if snapshot is not None:
            commands["ignore"] = self._fixes.to_ignore(snapshot, finding)
            if finding.kind.row.repro:
                commands["repro"] = types.Command("Write a repro", WRITE_REPRO, arguments=[uri, about])
        index = snapshot.index if snapshot is not None else self._server.sources.index(place.file)
        spot = self._server.notebooks.spot(uri, place.line)
        return Node(
            "finding",
            f"{uri}#{about}:{place.column}",
            sentence(finding),
            f"{finding.code} · {spot}" if finding.code != finding.kind.value else spot,
            finding.severity.value,
            finding.weight,
            uri,
            to_range(place, index, self._server.editor.encoding),
            commands,
        )

    def _range(self, place: Place, snapshot: Snapshot | None) -> types.Range:
        index = snapshot.index if snapshot is not None else None
        return to_range(place, index, self._server.editor.encoding)


def _counts(result: RegionOutcome) -> str:
    summary = result.summary
    if not summary.frames:
        return "not compiled in the last run"
    numbers = ((summary.graphs, "graph"), (summary.breaks, "break"), (summary.recompiles, "recompile"))
    parts = [counted(number, noun) for number, noun in numbers if number] or ["no graph"]
    if is_compile_time(summary, result.outcome):
        parts.append(f"{summary.compile_time_s:.1f} s")
    return " · ".join(parts)


def _runs(uri: str, runs: tuple[PastRun, ...]) -> Node:
    children = tuple(_run(uri, run) for run in runs)
    return Node("runs", f"{uri}#runs", "Runs", _changes(runs[0].changes) or str(len(runs)), children=children)


def _run(uri: str, run: PastRun) -> Node:
    identifier = f"{uri}#run@{run.ended.isoformat()}"
    end = ENDS.get(run.status, "")
    torch = f"torch {run.torch}" if run.torch else ""
    told = (_changes(run.changes), f"{run.duration_s:.1f} s", torch, end)
    children: list[Node] = []
    if run.changes is not None:
        children += _changed(identifier, "new", run.changes.new)
        children += _changed(identifier, "gone", run.changes.gone)
        children += _changed(identifier, "changed", [change.after for change in run.changes.changed])
    description = " · ".join(part for part in told if part)
    return Node("run", identifier, run.ended.strftime("%H:%M:%S"), description, children=tuple(children))


def _changed(parent: str, word: str, found: Iterable[Located]) -> list[Node]:
    return [
        Node("change", f"{parent}#{word}{number}", one.identity.message, f"{word} · line {one.line}", one.severity)
        for number, one in enumerate(found)
    ]


def _changes(changes: AnalysisComparison | None) -> str:
    """What changed since the previous run, in a phrase; '' for the first run."""
    if changes is None:
        return ""
    numbers = ((len(changes.new), "new"), (len(changes.gone), "gone"), (len(changes.changed), "changed"))
    return ", ".join(f"{number} {word}" for number, word in numbers if number) or "no changes"
