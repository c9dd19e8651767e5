"""Notebooks: their cells are one document to everything else in the server, and findings, lenses and fixes go back to the cells.

The document has the notebook's URI and path. Requests come with the URI of a cell, and positions in it; ``translated`` moves both ways.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import attrs
from lsprotocol import types

from compile_lens.documents.documents import Documents
from compile_lens.documents.line_index import Encoding
from compile_lens.lsp.convert import from_changes
from compile_lens.syntax.notebook import program_of

Handler = Callable[[Any], Any]


@dataclass(slots=True)
class Notebook:
    """``cells`` are the URIs of its code cells in their order; ``marks`` the lines (from 0) before each of them in the program.

    ``kernel`` is the name of the kernel that the notebook was last run with, '' if it does not say.
    """

    uri: str
    kernel: str
    order: list[types.NotebookCell]
    version: int = 0
    cells: list[str] = field(default_factory=list)
    marks: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()

    def cell_at(self, line: int) -> tuple[int, int] | None:
        """The number of the cell that ``line`` of the program is in, and the line there; a mark is the first line of its cell."""
        for number, (mark, count) in enumerate(zip(self.marks, self.lines, strict=True)):
            if mark <= line <= mark + count:
                return number, max(line - mark - 1, 0)
        return None


class Notebooks:
    """The open notebooks. ``open``, ``change``, ``save`` and ``close`` are the handlers of the document that is made of one."""

    def __init__(self, encoding: Encoding) -> None:
        self._texts = Documents(encoding)
        self._notebooks: dict[str, Notebook] = {}
        self._of_cell: dict[str, Notebook] = {}

    def opened(self, params: types.DidOpenNotebookDocumentParams) -> types.DidOpenTextDocumentParams:
        """A notebook was opened: what opens the document that is made of it."""
        document = params.notebook_document
        notebook = Notebook(document.uri, _kernel(document.metadata), list(document.cells))
        self._notebooks[document.uri] = notebook
        for item in params.cell_text_documents:
            self._texts.open(item.uri, None, str(item.language_id), item.version, item.text)
        text = self._made(notebook)
        return types.DidOpenTextDocumentParams(types.TextDocumentItem(document.uri, "python", notebook.version, text))

    def changed(self, params: types.DidChangeNotebookDocumentParams) -> types.DidChangeTextDocumentParams | None:
        """Cells were edited, moved, added or removed: the change of the document. None if the notebook is not open."""
        notebook = self._notebooks.get(params.notebook_document.uri)
        if notebook is None:
            return None
        if params.change.metadata is not None:
            notebook.kernel = _kernel(params.change.metadata) or notebook.kernel
        changes = params.change.cells
        if changes is not None and changes.structure is not None:
            for item in changes.structure.did_open or ():
                self._texts.open(item.uri, None, str(item.language_id), item.version, item.text)
            array = changes.structure.array
            notebook.order[array.start : array.start + array.delete_count] = array.cells or ()
            for closed in changes.structure.did_close or ():
                self._texts.close(closed.uri)
                self._of_cell.pop(closed.uri, None)
        for edited in (changes.text_content or ()) if changes is not None else ():
            if self._texts.get(edited.document.uri) is not None:
                self._texts.change(edited.document.uri, edited.document.version, from_changes(edited.changes))
        text = self._made(notebook)
        identifier = types.VersionedTextDocumentIdentifier(uri=notebook.uri, version=notebook.version)
        whole = types.TextDocumentContentChangeWholeDocument(text=text)
        return types.DidChangeTextDocumentParams(identifier, [whole])

    def closed(self, uri: str) -> None:
        """A notebook was closed."""
        notebook = self._notebooks.pop(uri, None)
        for cell in notebook.cells if notebook is not None else ():
            self._of_cell.pop(cell, None)
            self._texts.close(cell)

    def is_notebook(self, uri: str) -> bool:
        """Whether ``uri`` is that of an open notebook."""
        return uri in self._notebooks

    def kernel(self, uri: str) -> str:
        """The name of the kernel of an open notebook, '' if it does not say."""
        notebook = self._notebooks.get(uri)
        return notebook.kernel if notebook is not None else ""

    def document_of(self, uri: str) -> str:
        """The document that a cell is a part of; ``uri`` itself for anything else."""
        notebook = self._of_cell.get(uri)
        return notebook.uri if notebook is not None else uri

    def in_document(self, uri: str, line: int) -> tuple[str, int]:
        """A line of a cell, in the document that it is a part of."""
        notebook = self._of_cell.get(uri)
        return (notebook.uri, line + _above(notebook, uri)) if notebook is not None else (uri, line)

    def in_cell(self, uri: str, line: int) -> tuple[str, int]:
        """A line of a document that is made of cells, in its cell."""
        notebook = self._notebooks.get(uri)
        found = notebook.cell_at(line) if notebook is not None else None
        return (notebook.cells[found[0]], found[1]) if notebook is not None and found is not None else (uri, line)

    def spot(self, uri: str, line: int) -> str:
        """What to call a line (from 1) of a document: ``line 12``, or ``cell 2, line 3`` where it is made of cells."""
        notebook = self._notebooks.get(uri)
        found = notebook.cell_at(line - 1) if notebook is not None else None
        return f"cell {found[0] + 1}, line {found[1] + 1}" if found is not None else f"line {line}"

    def range_in_cell(self, uri: str, place: types.Range) -> tuple[str, types.Range]:
        """A range of a document that is made of cells, in the cell where it begins."""
        cell, line = self.in_cell(uri, place.start.line)
        return cell, _moved_range(place, line - place.start.line) if cell != uri else place

    def diagnostics(
        self, uri: str, version: int | None, items: Sequence[types.Diagnostic]
    ) -> Iterator[types.PublishDiagnosticsParams]:
        """The diagnostics of a document, or of each cell of a notebook."""
        notebook = self._notebooks.get(uri)
        if notebook is None:
            yield types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=list(items))
            return
        of_cells: dict[str, list[types.Diagnostic]] = {cell: [] for cell in notebook.cells}
        for item in items:
            cell, place = self.range_in_cell(uri, item.range)
            if cell in of_cells:
                related = [
                    attrs.evolve(entry, location=self._location(entry.location))
                    for entry in item.related_information or ()
                ]
                of_cells[cell].append(attrs.evolve(item, range=place, related_information=related or None))
        for cell, found in of_cells.items():
            yield types.PublishDiagnosticsParams(uri=cell, diagnostics=found)

    def edit(self, edit: types.WorkspaceEdit) -> types.WorkspaceEdit:
        """An edit of documents as one of cells, where they are made of cells."""
        changes = dict(edit.changes or {})
        for document in edit.document_changes or ():
            if isinstance(document, types.TextDocumentEdit) and self.is_notebook(document.text_document.uri):
                changes[document.text_document.uri] = [e for e in document.edits if isinstance(e, types.TextEdit)]
        if not any(map(self.is_notebook, changes)):
            return edit
        made: dict[str, list[types.TextEdit]] = {}
        for uri, edits in changes.items():
            for one in edits:
                cell, place = self.range_in_cell(uri, one.range)
                made.setdefault(cell, []).append(types.TextEdit(place, one.new_text))
        return types.WorkspaceEdit(changes=made)

    def translated(self, handler: Handler) -> Handler:
        """``handler`` of requests about documents, for requests about cells, too."""

        async def handle_async(params: Any) -> Any:
            return await handle(params)

        def handle(params: Any) -> Any:
            uri = getattr(getattr(params, "text_document", None), "uri", None)
            notebook = self._of_cell.get(uri) if isinstance(uri, str) else None
            if notebook is None or not isinstance(uri, str):
                return handler(params)
            down = _above(notebook, uri)
            moved = attrs.evolve(params, text_document=types.TextDocumentIdentifier(notebook.uri))
            for name in ("position", "range"):
                if hasattr(moved, name):
                    moved = attrs.evolve(moved, **{name: _moved(getattr(moved, name), down)})
            answer = handler(moved)
            if inspect.isawaitable(answer):
                return self._awaited(answer, uri, down)
            return self._answer(answer, uri, down)

        # pygls waits only for the answer of what is declared async
        return handle_async if inspect.iscoroutinefunction(handler) else handle

    async def _awaited(self, answer: Awaitable[Any], uri: str, down: int) -> Any:
        return self._answer(await answer, uri, down)

    def _answer(self, answer: Any, uri: str, down: int) -> Any:
        """``answer`` about a document, for its cell ``uri``, which is ``down`` lines below its beginning."""
        if isinstance(answer, (list, tuple)):
            return [self._answer(one, uri, down) for one in answer if self._is_of(one, uri)]
        if isinstance(answer, types.Location):
            return self._location(answer)
        if isinstance(answer, types.WorkspaceEdit):
            return self.edit(answer)
        if isinstance(answer, types.Range):
            return _moved_range(answer, -down)
        if isinstance(answer, types.Position):
            return _moved(answer, -down)
        if attrs.has(type(answer)) and not isinstance(answer, types.Command):
            fields = {one.name: getattr(answer, one.name) for one in attrs.fields(type(answer)) if one.name != "data"}
            return attrs.evolve(answer, **{name: self._answer(value, uri, down) for name, value in fields.items()})
        return answer

    def _is_of(self, one: Any, uri: str) -> bool:
        """Whether a lens, a hint or a link stands in the cell ``uri``."""
        if not isinstance(one, (types.CodeLens, types.InlayHint, types.DocumentLink)):
            return True
        start = one.position if isinstance(one, types.InlayHint) else one.range.start
        return self.in_cell(self.document_of(uri), start.line)[0] == uri

    def _location(self, location: types.Location) -> types.Location:
        return types.Location(*self.range_in_cell(location.uri, location.range))

    def _made(self, notebook: Notebook) -> str:
        """The program of the cells that there are now."""
        notebook.version += 1
        for cell in notebook.cells:
            self._of_cell.pop(cell, None)
        code = [cell.document for cell in notebook.order if cell.kind == types.NotebookCellKind.Code]
        known = [(uri, snapshot) for uri in code if (snapshot := self._texts.get(uri)) is not None]
        python = [(uri, snapshot) for uri, snapshot in known if snapshot.language == "python"]
        notebook.cells = [uri for uri, _ in python]
        notebook.lines = tuple(snapshot.index.line_count for _, snapshot in python)
        self._of_cell |= dict.fromkeys(notebook.cells, notebook)
        text, notebook.marks = program_of([snapshot.text for _, snapshot in python])
        return text


def _above(notebook: Notebook, cell: str) -> int:
    """How many lines of the program are above a cell."""
    return notebook.marks[notebook.cells.index(cell)] + 1


def _moved(place: Any, down: int) -> Any:
    if isinstance(place, types.Range):
        return _moved_range(place, down)
    return types.Position(max(place.line + down, 0), place.character)


def _moved_range(place: types.Range, down: int) -> types.Range:
    return types.Range(_moved(place.start, down), _moved(place.end, down))


def _kernel(metadata: Any) -> str:
    """The name of the kernel in the metadata of a notebook."""
    spec = _member(metadata, "kernelspec") or _member(_member(metadata, "metadata"), "kernelspec")
    name = _member(spec, "name")
    return name if isinstance(name, str) else ""


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
