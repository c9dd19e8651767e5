"""One small thing that says how Compile Lens is: for an editor that shows it (``experimental.compileLensStatus``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compile_lens.lsp.language_server import CompileLensServer

METHOD = "compileLens/status"
Health = Literal["ok", "warning", "error"]
State = Literal["starting", "idle", "analysing", "off"]


@dataclass(frozen=True, slots=True)
class Status:
    """``health`` is that of the tool, not of the user's code. ``findings`` counts what is shown in all files."""

    state: State
    message: str
    health: Health = "ok"
    findings: int = 0
    uri: str | None = None


class StatusReporter:
    """Sends the status when it changes."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._last: Status | None = None

    def idle(self) -> None:
        """Nothing runs; say what is shown."""
        count, hidden = self._server.results.total(), self._server.results.hidden()
        more = f", {hidden} more hidden" if hidden else ""
        self._send(Status("idle", _findings(count) + more, findings=count))

    def off(self, reason: str) -> None:
        """Nothing runs in the background, for this reason."""
        self._send(Status("off", reason, findings=self._server.results.total()))

    def working(self, state: Literal["starting", "analysing"], message: str, uri: str) -> None:
        """A run begins or goes on."""
        self._send(Status(state, message, findings=self._server.results.total(), uri=uri))

    def problem(self, sentence: str, uri: str | None = None) -> None:
        """Nothing could be analysed, and the user can do something about it."""
        self._send(Status("idle", sentence, "error", self._server.results.total(), uri))

    def _send(self, status: Status) -> None:
        if status == self._last or not self._server.client.status:
            return
        self._last = status
        params = {
            "health": status.health,
            "state": status.state,
            "message": status.message,
            "findings": status.findings,
        }
        if status.uri is not None:
            params["uri"] = status.uri
        self._server.protocol.notify(METHOD, params)


def _findings(count: int) -> str:
    return {0: "No findings", 1: "1 finding"}.get(count, f"{count} findings")
