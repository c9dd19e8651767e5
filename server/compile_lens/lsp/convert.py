"""Converts between the protocol's types and ours.

Findings count lines and columns from 1, in code points; the protocol counts from 0, in its encoding.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.analysis.finding import Finding, Place, Severity
from compile_lens.documents.documents import Change
from compile_lens.documents.line_index import Encoding, LineIndex, Position
from compile_lens.documents.line_indexes import LineIndexes
from compile_lens.lsp.editor_capabilities import EditorCapabilities
from compile_lens.shown_text import visible

SOURCE = "compile-lens"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}


def path_from_uri(uri: str) -> str | None:
    """The path of a ``file:`` URI, None for other URIs, and for a name that is no UTF-8: it would be told as that of another file."""
    try:
        urllib.parse.unquote(uri, errors="strict")
        path: str | None = uris.to_fs_path(uri)
    except ValueError:  # also a URI with half an IPv6 address, and the like
        return None
    return path if path and "\0" not in path else None


def path_argument(command: str, uri: str | None) -> str:
    """The path that a command is run for. Raises JsonRpcInvalidParams."""
    path = path_from_uri(uri) if uri is not None else None
    if path is None:
        raise JsonRpcInvalidParams(f"{command} needs the URI of a file.")
    return path


def uri_from_path(path: str, sources: LineIndexes) -> str:
    """The URI by which the editor knows the file, else the one made from its path."""
    snapshot = sources.documents.of_file(path)
    if snapshot is not None:
        return snapshot.uri
    uri: str = uris.from_fs_path(path)
    return uri


def from_position(position: types.Position) -> Position:
    """A protocol position as one of ours."""
    return Position(position.line, position.character)


def protocol_range(start: Position, end: Position) -> types.Range:
    """Our positions as a range of the protocol."""
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


def from_changes(changes: Sequence[types.TextDocumentContentChangeEvent]) -> list[Change]:
    """The changes of one ``didChange``."""
    return [
        Change(change.text, from_position(change.range.start), from_position(change.range.end))
        if isinstance(change, types.TextDocumentContentChangePartial)
        else Change(change.text)
        for change in changes
    ]


def to_range(place: Place, index: LineIndex | None, encoding: Encoding) -> types.Range:
    """The range of ``place``. Without the text of its file, columns are not converted."""
    if index is None:
        start = Position(max(place.line - 1, 0), max(place.column - 1, 0))
        end = max(start, Position(max(place.end_line - 1, 0), max(place.end_column - 1, 0)))
    else:
        start = index.position_of(place.line, place.column, encoding)
        end = max(start, index.position_of(place.end_line, place.end_column, encoding))
    return protocol_range(start, end)


def to_diagnostic(finding: Finding, sources: LineIndexes, editor: EditorCapabilities) -> types.Diagnostic:
    """A finding as the editor underlines it and lists it among the problems."""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(
                uri_from_path(entry.place.file, sources),
                to_range(entry.place, sources.index(entry.place.file), editor.encoding),
            ),
            visible(entry.message),
        )
        for entry in (finding.related if editor.related_information else ())
    ]
    return types.Diagnostic(
        range=to_range(finding.place, sources.index(finding.place.file), editor.encoding),
        message=sentence(finding),
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(finding.url) if finding.url else None,
        source=SOURCE,
        related_information=related or None,
    )


def sentence(finding: Finding) -> str:
    """The message of a finding, with its count."""
    said = visible(finding.message)
    return f"{said} ({finding.count} times)" if finding.count > 1 else said
