"""From a finding to a verdict or a report in one action: the repro is written first, then bisected, minified, or made a test or an issue.

The repro is private: nothing is added to the workspace.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.pages import Pages
from compile_lens.lsp.progress import ProgressFeature, RunProgress
from compile_lens.lsp.repros import KIND, Repros, reproducible_findings, selection
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.searches import Searches
from compile_lens.pipeline.scheduler import Reason
from compile_lens.repro.beside import script_text
from compile_lens.repro.history import recall
from compile_lens.repro.issue import collect_versions, issue_text, issue_title
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.unit_test import write_unit_test
from compile_lens.repro.verify import TIMEOUT_S
from compile_lens.repro.write import Written

BISECT_FINDING = "compileLens.bisectFinding"
MINIFY_FINDING = "compileLens.minifyFinding"
UNIT_TEST = "compileLens.writeUnitTest"
ISSUE = "compileLens.writeIssue"
# command → the title of its action, for the code of a finding
TITLES = {
    BISECT_FINDING: "Bisect {code}",
    MINIFY_FINDING: "Minify a repro for {code}",
    UNIT_TEST: "Write a unit test for {code}",
    ISSUE: "Write an issue about {code}",
}
Work = Callable[[Written, RunProgress], Awaitable[dict[str, Any]]]
Command = Callable[..., Awaitable[dict[str, Any] | None]]


class FindingReports:
    """Offers the actions at findings. Each shows its steps, and can be canceled at any of them."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        progress: ProgressFeature,
        repros: Repros,
        searches: Searches,
        pages: Pages,
    ) -> None:
        self._server, self._runs, self._progress = server, runs, progress
        self._repros, self._searches, self._pages = repros, searches, pages

    def commands(self) -> dict[str, Command]:
        """The commands by name; each takes a document, and ``CODE@LINE`` or '' for the worst finding."""
        works: dict[str, Work] = {
            BISECT_FINDING: self._bisect,
            MINIFY_FINDING: self._minify,
            UNIT_TEST: self._unit_test,
            ISSUE: self._issue,
        }
        return {name: partial(self._run, name, work) for name, work in works.items()}

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The actions for the findings at a range."""
        if snapshot.path is None or not snapshot.is_python:
            return
        for finding, about, diagnostic in reproducible_findings(self._server, snapshot.path, params.range):
            for command, title in TITLES.items():
                arguments = [snapshot.uri, about]
                yield command_action(title.format(code=finding.code), command, arguments, KIND, [diagnostic])

    async def _run(self, name: str, work: Work, uri: str | None, about: str | None) -> dict[str, Any] | None:
        path = path_argument(name, uri)
        if not self._server.may_run():
            return None
        wanted = selection(about or "")

        async def run(progress: RunProgress) -> dict[str, Any] | None:
            folder = self._repros.private_folder(path)
            written = await self._repros.written(str(uri), path, wanted, folder, progress)
            if not written.reproduces:
                self._server.warn(f"Compile Lens: {written.file.name}: {written.sentence()}")
                return None
            return await work(written, progress)

        return await self._progress.run(f"Writing a repro ({wanted.where})…", run, str(uri))

    async def _bisect(self, written: Written, progress: RunProgress) -> dict[str, Any]:
        found = await self._searches.bisected(written.file, progress)
        return {**found, "repro": written.file.as_uri()}

    async def _minify(self, written: Written, progress: RunProgress) -> dict[str, Any]:
        found = await self._searches.minified(written.file, progress)
        return {**found, "repro": written.file.as_uri()}

    async def _unit_test(self, written: Written, progress: RunProgress) -> dict[str, Any]:
        progress.report(f"{written.file.name}: running it as a unit test")
        file = written.file.with_name(f"test_{written.file.name}")
        async with self._server.hosts.turn(self._runs.interpreter(str(written.file)), Reason.REQUESTED) as host:
            test = await write_unit_test(host, written, file, TIMEOUT_S)  # type: ignore[arg-type]
        outcome = "It fails for the same reason." if test.fails else test.why
        self._server.say(f"Compile Lens: {file.name}: {outcome} In PyTorch's repository it belongs in {test.belongs}.")
        text = await asyncio.to_thread(script_text, file)
        await self._pages.open(file, text)
        return {"uri": file.as_uri(), "fails": test.fails, "belongs": test.belongs, "text": text}

    async def _issue(self, written: Written, progress: RunProgress) -> dict[str, Any]:
        progress.report(f"{written.file.name}: collecting versions")
        async with self._server.hosts.turn(self._runs.interpreter(str(written.file)), Reason.REQUESTED) as host:
            versions = await collect_versions(ScriptRuns(host, written.job))  # type: ignore[arg-type]
        text = await asyncio.to_thread(issue_text, written, versions, recall(Path(written.file)))
        title = issue_title(written)
        await self._pages.show(f"Issue: {title}", text, written.file.with_suffix(".issue.md"))
        return {"title": title, "markdown": text}
