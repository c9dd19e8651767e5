"""The status notification, for an editor that shows it (capability ``experimental.compileLensStatus``)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.shown_text import visible

log = logging.getLogger(__name__)
METHOD = "compileLens/status"
Health = Literal["ok", "warning", "error"]
State = Literal["starting", "idle", "analyzing", "off"]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """``health`` is that of Compile Lens, not of the user's code. ``findings`` counts those shown in all files."""

    state: State
    message: str
    health: Health = "ok"
    findings: int = 0
    uri: str | None = None


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
        limits = list(self._limits.values())
        message = " ".join([_findings(count) + more + ("." if limits else ""), *limits])
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
        """The analysis failed for a reason that the user can fix."""
        self._send(ServerStatus("idle", sentence, "error", self._server.results.total(), uri))

    def _send(self, status: ServerStatus) -> None:
        if status == self._last or not self._server.editor.shows_status:
            return
        self._last = status
        params = {
            "health": status.health,
            "state": status.state,
            "message": visible(status.message),
            "findings": status.findings,
        }
        if status.uri is not None:
            params["uri"] = status.uri
        self._server.protocol.notify(METHOD, params)


def _findings(count: int) -> str:
    return {0: "No findings", 1: "1 finding"}.get(count, f"{count} findings")
