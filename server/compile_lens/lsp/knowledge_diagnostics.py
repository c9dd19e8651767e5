"""Diagnostics for names that the installed torch does not know and values of the wrong type, with quick fixes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lsprotocol import types

from compile_lens.analysis.finding import Place
from compile_lens.documents.documents import Snapshot
from compile_lens.knowledge.checks import (
    SettingProblem,
    check_argument_value,
    check_log,
    check_name,
    check_option,
    check_value,
    check_variable,
)
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.lsp.code_actions import touches
from compile_lens.lsp.convert import SOURCE, to_range
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.knowledge_at import is_python
from compile_lens.lsp.knowledge_store import KnowledgeStore
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.syntax.compiler_output import is_compiler_output
from compile_lens.syntax.contexts import Mention, MentionKind
from compile_lens.syntax.mentions import may_have_mentions, mentions
from compile_lens.syntax.settings_text import items, settings_of_line
from compile_lens.syntax.tree import Range, SourceTree, parse
from compile_lens.syntax.window import imports_of

CODE = "unknown-name"
_KINDS = {
    MentionKind.MODE: KnowledgeKind.MODE,
    MentionKind.BACKEND: KnowledgeKind.BACKEND,
    MentionKind.ARGUMENT: KnowledgeKind.ARGUMENT,
}
# other files are read only if they are likely to set a variable of torch or Triton
_PREFIXES = ("TORCH", "TRITON")
# a longer document is not looked through: it would take the interpreter from the editor's requests
LARGEST = 1_000_000
PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A problem and where it is."""

    problem: SettingProblem
    range: Range


class KnowledgeDiagnostics:
    """The problems of each open document, found once per version and knowledge table."""

    def __init__(
        self, server: CompileLensServer, store: KnowledgeStore, facts: DocumentFactsOf, show: Callable[[Snapshot], None]
    ) -> None:
        self._server = server
        self._store = store
        self._facts = facts
        self._show = show
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._known: dict[str, tuple[int, Knowledge, tuple[UnknownName, ...]]] = {}

    def found(self, snapshot: Snapshot) -> tuple[UnknownName, ...]:
        """The problems of a version."""
        knowledge = self._store.of(snapshot.path)
        known = self._known.get(snapshot.uri)
        if known is None or known[0] != snapshot.version or known[1] is not knowledge:
            if self._facts.is_long(snapshot):
                self._look_later(snapshot.uri)
                return ()
            known = self._known[snapshot.uri] = (snapshot.version, knowledge, tuple(problems(snapshot, knowledge)))
        return known[2]

    def _look_later(self, uri: str) -> None:
        looking = self._looking.get(uri)
        if looking is None or looking.done():
            self._looking[uri] = self._server.background.start(self._look(uri))

    async def _look(self, uri: str) -> None:
        """Look through a long document once nobody has typed for a while."""
        snapshot = None
        while snapshot is not (now := self._server.documents.get(uri)):
            snapshot = now
            await asyncio.sleep(PAUSE_S)
        if snapshot is not None:
            knowledge = self._store.of(snapshot.path)
            found = await asyncio.to_thread(lambda: tuple(problems(snapshot, knowledge)))
            self._known[uri] = (snapshot.version, knowledge, found)
            if found:
                self._show(snapshot)

    def of(self, snapshot: Snapshot) -> list[types.Diagnostic]:
        """The problems of a version as diagnostics."""
        return [self._diagnostic(snapshot, entry) for entry in self.found(snapshot)]

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Quick fixes: the names that were probably meant."""
        for entry, diagnostic in zip(self.found(snapshot), self.of(snapshot), strict=True):
            if touches(diagnostic.range, params.range):
                for number, name in enumerate(entry.problem.instead):
                    edit = types.WorkspaceEdit(changes={snapshot.uri: [types.TextEdit(diagnostic.range, name)]})
                    yield types.CodeAction(
                        title=f"Change to `{name}`",
                        kind=types.CodeActionKind.QuickFix,
                        diagnostics=[diagnostic],
                        is_preferred=number == 0,
                        edit=edit,
                    )

    def _diagnostic(self, snapshot: Snapshot, entry: UnknownName) -> types.Diagnostic:
        problem = entry.problem
        question = f" Did you mean '{problem.instead[0]}'?" if problem.instead else ""
        certain = problem.certain or problem.instead
        return types.Diagnostic(
            range=self.range_of(snapshot, entry.range),
            message=f"{problem.message}{question}",
            severity=types.DiagnosticSeverity.Warning if certain else types.DiagnosticSeverity.Information,
            code=CODE,
            source=SOURCE,
            data={"instead": list(problem.instead)},
        )

    def range_of(self, snapshot: Snapshot, place: Range) -> types.Range:
        """A range in the editor's encoding."""
        where = Place("", place.line, place.column, place.end_line, place.end_column)
        return to_range(where, snapshot.index, self._server.editor.encoding)


def problems(snapshot: Snapshot, knowledge: Knowledge) -> Iterator[UnknownName]:
    """The problems of a document, in order."""
    text = snapshot.text
    if len(text) > LARGEST or not (is_python(snapshot) or any(word in text for word in _PREFIXES)):
        return
    if is_python(snapshot):
        imports = imports_of(text)
        if may_have_mentions(text, imports):
            tree = parse(text)
            for mention in mentions(tree, imports):
                yield from _of_mention(knowledge, tree, mention)
    elif not is_compiler_output(text):
        yield from _of_settings(snapshot, knowledge)


def _of_mention(knowledge: Knowledge, tree: SourceTree, mention: Mention) -> Iterator[UnknownName]:
    problem: SettingProblem | None = None
    if mention.sort is MentionKind.LOG:
        problem = check_log(knowledge, mention.name)
    elif mention.sort is MentionKind.VARIABLE:
        problem = check_variable(knowledge, mention.name)
    elif mention.sort in _KINDS:
        problem = check_name(knowledge, _KINDS[mention.sort], mention.name)
        if problem is None and mention.sort is MentionKind.ARGUMENT and mention.value is not None:
            wrong = check_argument_value(mention.name, mention.value.type)
            if wrong is not None:
                yield UnknownName(wrong, tree.node_range(mention.value))
    elif mention.sort in (MentionKind.OPTION, MentionKind.NAME):
        problem = check_option(knowledge, mention.name)
        if problem is None and mention.value is not None:
            wrong = check_value(knowledge, mention.name, mention.value.type, tree.node_text(mention.value))
            if wrong is not None:
                yield UnknownName(wrong, tree.node_range(mention.value))
    if problem is not None:
        yield UnknownName(problem, _without_quotes(tree, mention.range))


def _without_quotes(tree: SourceTree, place: Range) -> Range:
    text = tree.line_text(place.line)[place.column - 1 : place.end_column - 1]
    if place.line != place.end_line or len(text) < 2 or text[0] not in "\"'" or text[-1] != text[0]:
        return place
    return Range(place.line, place.column + 1, place.end_line, place.end_column - 1)


def _of_settings(snapshot: Snapshot, knowledge: Knowledge) -> Iterator[UnknownName]:
    before = ""
    for number in range(snapshot.index.line_count):
        text = snapshot.index.line(number)
        if "TORCH" in text or "TORCH" in before:
            for setting in settings_of_line(text, before):
                if setting.name_column >= 0:
                    problem = check_variable(knowledge, setting.name)
                    if problem is not None:
                        yield UnknownName(problem, _columns(number, setting.name_column, len(setting.name)))
                if setting.name == "TORCH_LOGS" and "$" not in setting.value:
                    for name, offset in items(setting.value):
                        problem = check_log(knowledge, name)
                        if problem is not None:
                            yield UnknownName(problem, _columns(number, setting.value_column + offset, len(name)))
        before = text


def _columns(number: int, column: int, length: int) -> Range:
    return Range(number + 1, column + 1, number + 1, column + 1 + length)
