"""Whether the files of a workspace may run in the background; asks the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lsprotocol import types

from compile_lens.analysis.stand_ins import CPU_FOR_GPU
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.background_runs import explain_runs
from compile_lens.lsp.code_actions import command_action, touches
from compile_lens.lsp.convert import to_diagnostic
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.settings.settings import Consent
from compile_lens.state.consent import Permission, permission
from compile_lens.workers.gpu_devices import has_gpu_device

ALLOW, ALLOW_GPU, NOT_NOW, LEARN_MORE = "Allow", "Allow with GPU", "Not now", "Learn more"
ALLOW_COMMAND = "compileLens.allowWorkspace"
USE_GPU, LEAVE_GPU = "compileLens.useGpu", "compileLens.leaveGpu"
QUESTION = "May Compile Lens run Python files of this workspace when you open or save them? Sandboxed: no network, changes are discarded."
ALLOW_TITLE = "Allow Compile Lens to run files of this workspace"
CANNOT_ASK = (
    "This editor cannot ask whether Compile Lens may run files of this workspace. To allow it, use the code action "
    f"“{ALLOW_TITLE}” at a compile region, or set compileLens.run.enabled to always."
)
# asked only where there is a GPU
WITHOUT_GPU = " Runs leave your GPU free: programs that need one get an emulated CUDA device, with the same graph breaks and recompiles."


class Permissions:
    """Asks once per workspace root. Remembers a yes permanently, a no until the server ends."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._declined: set[Path] = set()
        self._revoked: set[Path] = set()
        self._asking: set[Path] = set()

    def of(self, path: str) -> Permission:
        """Whether the file ``path`` may run in the background."""
        server, root = self._server, self._server.root_of(path)
        remembered = server.consent.is_allowed(root, with_subfolders=self._is_workspace(root))
        trusted = server.trusted if server.reports_trust or not server.trusted else None
        setting = server.settings.run.enabled if server.run_is_set else None
        return permission(trusted, setting, remembered, root in self._declined or root in self._revoked)

    def waits(self, path: str) -> bool:
        """Whether the user may still answer for the workspace of ``path``: not asked yet, or put off, and not revoked."""
        server, root = self._server, self._server.root_of(path)
        put_off = root in self._declined and root not in self._revoked and server.settings.run.enabled is Consent.ASK
        return self.of(path) is Permission.ASK or (put_off and self.of(path) is Permission.REFUSED)

    def may_start_standby(self, path: str) -> bool:
        """Whether torch may be imported for the file ``path``, which runs nothing of the user's.

        Before the user agrees, only in a workspace that the editor calls trusted: its interpreter may be inside it.
        """
        allowed = self.of(path)
        return allowed is Permission.ALLOWED or (allowed is Permission.ASK and self._server.reports_trust)

    def ask(self, path: str, then: Callable[[], None]) -> None:
        """Ask for the workspace of ``path``, unless the question is open already; ``then`` is called after the answer."""
        root = self._server.root_of(path)
        if root not in self._asking:
            self._asking.add(root)
            self._server.background.start(self._ask(root, then))

    async def _ask(self, root: Path, then: Callable[[], None]) -> None:
        has_gpu = has_gpu_device()
        answers = (ALLOW, *((ALLOW_GPU,) if has_gpu else ()), NOT_NOW, LEARN_MORE)
        try:
            question = QUESTION + (WITHOUT_GPU if has_gpu else "")
            answer = await self._server.ask(question, answers, unasked=CANNOT_ASK)
        finally:
            self._asking.discard(root)
        if answer in (ALLOW, ALLOW_GPU):
            self.allow(root, gpu=answer == ALLOW_GPU)
        else:
            self._declined.add(root)
            if answer == LEARN_MORE:
                await explain_runs(self._server)
            elif answer == CANNOT_ASK:
                self._server.warn(CANNOT_ASK)
        then()

    def allow(self, root: Path, gpu: bool = False) -> None:
        """The user allows background runs for ``root``, on its GPUs, too, if ``gpu``."""
        self._declined.discard(root)
        self._revoked.discard(root)
        try:
            self._server.consent.allow(root, gpu, with_subfolders=self._is_workspace(root))
        except OSError as error:
            self._server.warn(f"Compile Lens could not save your answer: {error.strerror}.")

    def _is_workspace(self, root: Path) -> bool:
        """Whether ``root`` is a folder that the user has opened, and not just one in which a file lies."""
        return root in self._server.folders()

    def gpu_actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """At the finding of an emulated device: let background runs of the workspace use the GPU that the machine has."""
        if snapshot.path is None or not has_gpu_device():
            return
        for finding in self._server.results.findings(file_key(snapshot.path)):
            if finding.code != CPU_FOR_GPU:
                continue
            diagnostic = to_diagnostic(finding, self._server.sources, self._server.editor)
            if touches(diagnostic.range, params.range):
                title = "Use the GPU in background runs of this workspace"
                yield command_action(title, USE_GPU, [snapshot.uri], types.CodeActionKind.QuickFix.value, [diagnostic])

    def revoke(self, root: Path) -> None:
        """The user revokes the permission for ``root``, and is not asked again in this session."""
        self._revoked.add(root)
        try:
            self._server.consent.revoke(root)
        except OSError as error:
            self._server.warn(f"Compile Lens could not revoke the permission: {error.strerror}.")
