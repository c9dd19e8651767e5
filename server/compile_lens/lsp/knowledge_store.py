"""Which knowledge tables explain a document: those of the torch that runs it, or the bundled ones until those are extracted."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.tables import bundled_tables, open_tables
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.state.consent import Permission
from compile_lens.workers.extraction import ExtractionError, InstalledTorch, cached_tables, extract_tables, find_torch
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

log = logging.getLogger(__name__)

# another torch may be installed while the editor is open
LOOK_UP_AGAIN_S = 30.0
# the first analyses go before the extraction, which takes a quarter of a minute of one core
FIRST_RUNS_S = 20.0


@dataclass(slots=True)
class _LookedUp:
    knowledge: Knowledge
    torch: str
    looked_at: float


class KnowledgeStore:
    """Knowledge per workspace folder and interpreter setting. Never blocks: tables that are not cached are extracted in the background,
    if files may run there."""

    def __init__(
        self,
        server: CompileLensServer,
        permission_of: Callable[[str], Permission],
        progress: ProgressFeature,
        on_new_tables: Callable[[], None],
    ) -> None:
        self._server = server
        self._progress = progress
        self._permission_of = permission_of
        self._on_new_tables = on_new_tables
        self._bundled: dict[tuple[str, str | None], Knowledge] = {}
        self._known: dict[tuple[Path | None, str, bool], _LookedUp] = {}
        self._opened: dict[Path, Knowledge] = {}
        self._extracting: set[Path] = set()

    def of(self, path: str | None) -> Knowledge:
        """The knowledge for the document at ``path``, None for a document without a file."""
        return self._of(path).knowledge

    def torch_of(self, path: str | None) -> str:
        """The version of the torch that runs the document at ``path``; '' while unknown."""
        return self._of(path).torch

    def _of(self, path: str | None) -> _LookedUp:
        root = self._server.root_of(path) if path is not None else next(iter(self._server.folders()), None)
        # without a file nothing may be read in the background, which must not hold for the files of the folder
        key = (root, self._server.settings.python, path is None)
        known = self._known.get(key)
        if known is None or time.monotonic() - known.looked_at > LOOK_UP_AGAIN_S:
            known = self._known[key] = _LookedUp(*self._look_up(path, root), time.monotonic())
        return known

    def _look_up(self, path: str | None, root: Path | None) -> tuple[Knowledge, str]:
        file = Path(path) if path is not None else (root or Path.home()) / "program.py"
        if not self._server.trusted:  # nothing in such a workspace is looked at
            return self._bundled_knowledge(), ""
        try:
            python = find_interpreter(file, [root] if root else [], self._server.settings.python or None)
        except InterpreterError:
            return self._bundled_knowledge(), ""
        torch = find_torch(python)
        if torch is None:
            return self._bundled_knowledge(), ""
        cached = cached_tables(torch)
        if cached is not None:
            return self._open(cached), torch.version
        bundled = self._bundled_knowledge(torch.version, str(torch.folder.parent))
        allowed = path is not None and self._permission_of(path) is Permission.ALLOWED
        if allowed and torch.folder not in self._extracting:
            self._extracting.add(torch.folder)
            self._server.background.start(self._extract(torch))
        return bundled, torch.version

    def _bundled_knowledge(self, version: str = "", root: str | None = None) -> Knowledge:
        known = self._bundled.get((version, root))
        if known is None:
            known = self._bundled[version, root] = Knowledge(bundled_tables(version, root))
            self._server.background.start(asyncio.to_thread(known.read_all))
        return known

    def _open(self, file: Path) -> Knowledge:
        known = self._opened.get(file)
        if known is None:
            tables = open_tables(file)
            if tables is None:
                return self._bundled_knowledge()
            known = self._opened[file] = Knowledge(tables)
            self._server.background.start(asyncio.to_thread(known.read_all))
        return known

    async def _extract(self, torch: InstalledTorch) -> None:
        """Read the installed torch. Once per session, whatever the end: who cancels it is not shown it again."""
        await asyncio.sleep(FIRST_RUNS_S)
        reading = asyncio.current_task()
        assert reading is not None
        progress = self._progress.start(f"Reading torch {torch.version}", reading.cancel)

        def report(kind: str, done: int, of: int) -> None:
            progress.report(f"Reading torch {torch.version}: {done} of {of} tables")

        try:
            await extract_tables(torch, on_table=report)
        except ExtractionError as error:
            log.warning("%s", error)
            return
        finally:
            self._progress.finish(progress)
        self._known.clear()
        self._bundled.clear()  # ten megabytes that nobody asks for any more
        self._on_new_tables()
