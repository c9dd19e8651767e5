"""What helps where the sandbox blocked a call or discarded a file: code actions at the finding, a lens, and their commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.agent.runtime.regular_file import is_folder
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.code_actions import command_action, touches
from compile_lens.lsp.convert import path_argument, to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.state.consent import Grants

ALLOW_NETWORK = "compileLens.allowNetwork"
KEEP_WRITES = "compileLens.keepWrites"
WITHOUT_SANDBOX = "compileLens.analyzeWithoutSandbox"
# of VS Code, whose client alone shows the status
OPEN_SETTINGS = "workbench.action.openSettings"
SETTINGS = {"denied-write": "compileLens.sandbox.allowWrite", "denied-gpu": "compileLens.sandbox.gpu"}


class SandboxActions:
    """Permissions are for one workspace; the settings are for all."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """The actions for the findings of the sandbox at a range."""
        if snapshot.path is None or not self._server.trusted:
            return
        for finding in self._server.results.findings(file_key(snapshot.path)):
            if finding.kind is not Kind.REFUSED:
                continue
            diagnostic = to_diagnostic(finding, self._server.sources, self._server.editor)
            if touches(diagnostic.range, params.range):
                for title, command, arguments in self._offered(finding, snapshot):
                    kind = types.CodeActionKind.QuickFix.value
                    yield command_action(title, command, arguments, kind, [diagnostic])

    def _offered(self, finding: Finding, snapshot: Snapshot) -> Iterator[tuple[str, str, list[str]]]:
        assert snapshot.path is not None
        if finding.code == "denied-network":
            yield "Allow network access for this workspace", ALLOW_NETWORK, [snapshot.uri]
        if finding.code == "denied-write":
            root = self._server.root_of(snapshot.path)
            for folder in folders_to_keep(finding.targets, Path(snapshot.path).parent, root):
                shown = folder.relative_to(root).as_posix()
                what = "in this workspace" if shown == "." else f"in `{shown}`"
                yield f"Keep what runs of this workspace write {what}", KEEP_WRITES, [snapshot.uri, str(folder)]
        yield "Analyze this file once without the sandbox", WITHOUT_SANDBOX, [snapshot.uri]
        if self._server.editor.shows_status:
            yield "Open the settings of the sandbox", OPEN_SETTINGS, [SETTINGS.get(finding.code, "compileLens.sandbox")]

    def allow_network(self, uri: str | None) -> None:
        """The user lets background runs of a workspace use the network."""
        self._grant(path_argument(ALLOW_NETWORK, uri), Grants(network=True))

    def keep_writes(self, uri: str | None, folder: str | None) -> None:
        """The user lets background runs of a workspace change one folder of it for good. Raises JsonRpcInvalidParams for one elsewhere."""
        path = path_argument(KEEP_WRITES, uri)
        written = [str(Path(folder) / "file")] if folder is not None else []
        wanted = folders_to_keep(written, Path(path).parent, self._server.root_of(path))
        if not wanted:
            raise JsonRpcInvalidParams(f"{KEEP_WRITES} needs a folder of the workspace.")
        self._grant(path, Grants(allow_write=tuple(map(str, wanted))))

    def _grant(self, path: str, grants: Grants) -> None:
        try:
            self._server.consent.grant(self._server.root_of(path), grants)
        except OSError as error:
            self._server.warn(f"Compile Lens could not save your answer: {error.strerror}.")


def by_folder(written: Sequence[str], beside: Path, root: Path) -> dict[Path, list[str]]:
    """The folders to keep, each with those of the files ``written`` that are in it."""
    found: dict[Path, list[str]] = {folder: [] for folder in folders_to_keep(written, beside, root)}
    for name in written:
        for inner in folders_to_keep([name], beside, root):
            next(names for folder, names in found.items() if inner.is_relative_to(folder)).append(name)
    return found


def folders_to_keep(written: Iterable[str], beside: Path, root: Path) -> list[Path]:
    """The folders of ``root`` that hold the files ``written``: those that exist already, since others exist in the sandbox alone."""
    found: list[Path] = []
    inside = root.resolve()
    for name in written:
        try:
            folder = Path(
                os.path.realpath((beside / name).parent)
            )  # `Path.resolve` raises where links lead in a circle
        except ValueError:
            continue  # a program named what no system has
        while not is_folder(folder):
            folder = folder.parent
        if folder.is_relative_to(inside):
            found.append(root / folder.relative_to(inside))
    return [
        one for one in dict.fromkeys(found) if not any(one != other and one.is_relative_to(other) for other in found)
    ]
