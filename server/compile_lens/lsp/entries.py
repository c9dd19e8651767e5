"""Entries in the editor: which one a file is analyzed with, the choice of another, and keeping synthesized inputs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol import types

from compile_lens.analysis.coverage import Unit
from compile_lens.analysis.outcome import EntryCall, Outcome
from compile_lens.documents.documents import Snapshot
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import AUTOMATIC, SYNTHESIZED, Entry, EntryChoice
from compile_lens.entries.keep_inputs import Insertion, as_comment, as_functions
from compile_lens.entries.project_names import ProjectFiles
from compile_lens.lsp.code_actions import workspace_edit
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.entry_choice import as_if_compiled, choose, entries_of
from compile_lens.pipeline.imported_files import project_files
from compile_lens.pipeline.revisions import Revision
from compile_lens.shown_text import one_line
from compile_lens.state.call_memory import CallMemory
from compile_lens.state.file_memory import EntryMemory
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import SourceTree

CHOOSE = "compileLens.chooseEntry"
LIST = "compileLens.entries"
# it may be a workspace's own
SETTING = "the setting compileLens.run.entry"
AS_IF_COMPILED = "compileLens.analyzeAsIfCompiled"
AUTOMATICALLY = "Automatically"
MAX_SHOWN = 8


class Entries:
    """Remembers the choices, and lists the entries of a file."""

    def __init__(self, server: CompileLensServer, facts: DocumentFactsOf) -> None:
        self._server = server
        self._facts = facts
        self.memory = EntryMemory(server.consent.folder.parent / "entries")
        self.calls = CallMemory(server.consent.folder.parent / "calls")

    async def choice(
        self, path: str, text: str | None, candidate: Callable[[str], str | None], at: Revision | None = None
    ) -> EntryChoice:
        """The entries to try. ``candidate`` maps the file's text to what is compiled as if the file did, if anything. With ``at``, they
        are those of the file as it was in that revision.

        Raises BadEntry and FileProblem.
        """
        root, setting = self._server.root_of(path), self._server.settings.run.entry
        remembered = self.memory.recall(path)
        there = path
        if at is not None:
            there, root = str(at.path_of(path)), at.path_of(str(root))

        def find() -> EntryChoice:
            source = read_source(Path(there)) if text is None else text
            name = candidate(source)
            if name is not None:
                return as_if_compiled(there, source, name)
            return choose(there, source, root, setting, remembered, self.calls.recall(path), SETTING)

        # reads the workspace for tests and scripts, so it must not block the event loop
        return await asyncio.to_thread(find)

    async def _of(self, path: str, text: str | None) -> tuple[Entry, ...]:
        """All entries of a file. Raises FileProblem."""
        root = self._server.root_of(path)
        return await asyncio.to_thread(
            lambda: entries_of(path, read_source(Path(path)) if text is None else text, root, self.calls.recall(path))
        )

    async def choose(self, uri: str, spec: str | None) -> bool:
        """Remember ``spec`` for a file, or ask the user; whether a choice was made. '' and ``auto`` forget it."""
        path = path_argument(CHOOSE, uri)
        snapshot = self._server.documents.get(uri)
        try:
            found = await self._of(path, snapshot.text if snapshot is not None else None)
        except FileProblem as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return False
        if spec is None:
            spec = await self._ask(path, found)
        if spec is None:
            return False
        try:
            self.memory.remember(path, "" if spec == AUTOMATIC else spec)
        except OSError as error:
            self._server.warn(f"Compile Lens could not save your choice: {error.strerror}.")
        return True

    async def _ask(self, path: str, found: tuple[Entry, ...]) -> str | None:
        titles = {entry.spec: entry.spec for entry in found[:MAX_SHOWN]} | {AUTOMATICALLY: AUTOMATIC}
        answer = await self._server.ask(f"How should {Path(path).name} be analyzed?", titles)
        return titles.get(answer) if answer is not None else None

    async def list(self, uri: str) -> list[dict[str, object]]:
        """All entries of a file, for an editor with its own list to choose from."""
        path = path_argument(LIST, uri)
        snapshot = self._server.documents.get(uri)
        remembered = self.memory.recall(path)
        try:
            found = await self._of(path, snapshot.text if snapshot is not None else None)
        except FileProblem:
            return []
        return [
            {"entry": e.spec, "origin": e.origin, "kind": e.kind.value, "chosen": e.spec == remembered} for e in found
        ]

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Offer to keep synthesized inputs, in the function or class that they are for, and to complete those that were not found."""
        results = self._server.results
        for beside in ("", *results.beside(snapshot.uri)):
            outcome = results.outcome(snapshot.uri, beside)
            if outcome is not None and outcome.final and (tree := self._facts.tree(snapshot)) is not None:
                yield from self._of_outcome(snapshot, params, outcome, tree, beside)

    def _of_outcome(
        self, snapshot: Snapshot, params: types.CodeActionParams, outcome: Outcome, tree: SourceTree, beside: str
    ) -> Iterator[types.CodeAction]:
        files = project_files(snapshot.path, str(self._server.root_of(snapshot.path))) if snapshot.path else None
        first, last = params.range.start.line + 1, params.range.end.line + 1

        def is_in(name: str) -> bool:
            definition = next((d for d in definitions(tree) if d.qualified_name == name), None)
            return definition is not None and last >= definition.first_line and first <= definition.last_line

        for unit in outcome.coverage.missing if outcome.coverage is not None else ():
            if unit.draft and not beside and is_in(unit.name):
                yield from self._drafts(snapshot, tree, unit, files)
        if not outcome.entry.startswith(SYNTHESIZED):
            return
        for call in outcome.calls:
            if not is_in(call.target.partition(".")[0]):
                continue
            comment = as_comment(tree, call.text, files)
            if comment is not None:
                yield self._action(snapshot, f"Keep these inputs in a comment: {one_line(call.text)}", comment)
            functions = as_functions(tree, call.text, files=files) if self._is_first(outcome, call) else None
            if functions is not None:
                yield self._action(snapshot, f"Keep these inputs as `get_inputs()`: {one_line(call.text)}", functions)

    def _drafts(
        self, snapshot: Snapshot, tree: SourceTree, unit: Unit, files: ProjectFiles | None
    ) -> Iterator[types.CodeAction]:
        """Offer a call with what is known, for the user to complete, and say what is wrong with it."""
        comment = as_comment(tree, unit.draft, files)
        if comment is not None:
            change = " or ".join(f"`{name}`" for name in unit.involved)
            and_change = f", and change {one_line(change)}" if change else ""
            yield self._action(
                snapshot,
                f"Write a skeleton call of `{unit.name}` as a comment{and_change}: {one_line(unit.draft)}",
                comment,
            )
        functions = as_functions(tree, unit.draft, unit.what_failed, files)
        if functions is not None:
            yield self._action(
                snapshot, f"Write a skeleton of `get_inputs()` for `{unit.name}`: {one_line(unit.draft)}", functions
            )

    @staticmethod
    def _is_first(outcome: Outcome, call: EntryCall) -> bool:
        """``get_inputs()`` is for one target: the first (entries/find.py)."""
        return bool(outcome.calls) and outcome.calls[0] == call and "." not in call.target

    def _action(self, snapshot: Snapshot, title: str, insertion: Insertion) -> types.CodeAction:
        last = snapshot.index.line_count
        start = min(insertion.line - 1, last)
        end = min(start + insertion.lines, last)
        place = types.Range(types.Position(start, 0), types.Position(end, 0))
        edit = workspace_edit(snapshot, [types.TextEdit(place, insertion.text)], self._server.editor.versioned_edits)
        return types.CodeAction(title=title, kind=types.CodeActionKind.QuickFix, edit=edit)
