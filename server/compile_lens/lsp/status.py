"""The status notification, for an editor that shows it (capability ``experimental.compileLensStatus``)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from compile_lens.documents.documents import file_key
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.shown_text import visible_name

log = logging.getLogger(__name__)
METHOD = "compileLens/status"
Health = Literal["ok", "warning", "error"]
State = Literal["starting", "idle", "analyzing", "off"]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """``health`` is that of Compile Lens, not of the user's code. ``findings`` counts those shown in all files, ``counts`` those of
    each open document."""

    state: State
    message: str
    health: Health = "ok"
    findings: int = 0
    uri: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


class StatusReporter:
    """Sends the status when it changes."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._last: ServerStatus | None = None
        self._limits: dict[str, str] = {}

    def idle(self) -> None:
        """Nothing runs: show the number of findings."""
        count, hidden = self._server.results.total(), self._server.results.hidden()
        more = f" ({hidden} more hidden)" if hidden else ""
        limits = self._limits.values()
        notes = [*limits, *(f"{name} was stopped early." for name in self._server.results.idle_files())]
        message = " ".join([_findings(count) + more + ("." if notes else ""), *notes])
        self._send(ServerStatus("idle", message, "warning" if limits else "ok", count))

    def limited(self, uri: str, sentence: str) -> None:
        """Of the document ``uri`` not everything is analyzed. The status says so until ``unlimited``."""
        if self._limits.get(uri) != sentence:
            self._limits[uri] = sentence
            log.warning("%s", sentence)
            self.idle()

    def unlimited(self, uri: str) -> None:
        """There is no limit on the document any more."""
        if self._limits.pop(uri, None) is not None:
            self.idle()

    def off(self, reason: str) -> None:
        """Background runs are off for ``reason``."""
        self._send(ServerStatus("off", reason, findings=self._server.results.total()))

    def working(self, state: Literal["starting", "analyzing"], message: str, uri: str) -> None:
        """A run is starting or running."""
        self._send(ServerStatus(state, message, findings=self._server.results.total(), uri=uri))

    def problem(self, sentence: str, uri: str | None = None) -> None:
        """A file was not analyzed, for a reason that the user can fix."""
        self._send(ServerStatus("idle", sentence, "warning", self._server.results.total(), uri))

    def bug(self, sentence: str, uri: str) -> None:
        """The server itself failed: only this is an error of Compile Lens."""
        self._send(ServerStatus("idle", sentence, "error", self._server.results.total(), uri))

    def _send(self, status: ServerStatus) -> None:
        status = replace(status, counts=self._counts())
        if status == self._last or not self._server.editor.shows_status:
            return
        self._last = status
        params = {
            "health": status.health,
            "state": status.state,
            "message": visible_name(status.message),
            "findings": status.findings,
            "counts": status.counts,
        }
        if status.uri is not None:
            params["uri"] = status.uri
        self._server.protocol.notify(METHOD, params)

    def _counts(self) -> dict[str, int]:
        server = self._server
        return {
            snapshot.uri: len(server.results.findings(file_key(snapshot.path)))
            for snapshot in server.documents.all()
            if snapshot.path is not None and snapshot.is_python
        }


def _findings(count: int) -> str:
    return {0: "No findings", 1: "1 finding"}.get(count, f"{count} findings")
