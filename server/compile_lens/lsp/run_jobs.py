"""What the run of a document reads: its job, and the versions of the open documents."""

from __future__ import annotations

from dataclasses import replace

from compile_lens.documents.documents import Snapshot
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.last_runs import LastRuns
from compile_lens.pipeline.job_factory import job_of_settings
from compile_lens.workers.access import Access
from compile_lens.workers.job import Job


class RunJobs:
    """Makes the jobs of documents; ``last`` knows the entries of their last runs."""

    def __init__(self, server: CompileLensServer, last: LastRuns) -> None:
        self._server = server
        self._last = last

    def job(self, path: str, snapshot: Snapshot | None, access: Access = Access.SANDBOXED) -> Job:
        """The job that runs a file as a script, with the text of ``snapshot`` if it has unsaved changes."""
        server = self._server
        text = None if snapshot is None else server.sources.unsaved(path, snapshot.text)
        allowed = access if server.trusted else Access.NONE
        root = server.root_of(path)
        return job_of_settings(
            server.settings,
            path,
            text,
            root,
            allowed,
            uses_gpu=server.consent.gpu(root),
            grants=server.consent.grants(root),
        )

    def of_last_run(self, uri: str, path: str, snapshot: Snapshot) -> Job:
        """The job of a file, with the entry that its last run used."""
        entry = self._last.entry(uri)
        job = self.job(path, snapshot)
        return job if entry is None else replace(job, entry=entry.spec, plan=entry.plan)

    def versions(self, uri: str, snapshot: Snapshot | None) -> dict[str, int]:
        """What a run that starts now reads: this document as of its request, and the others from disk."""
        versions = self._server.documents.versions_on_disk()
        return versions if snapshot is None else {**versions, uri: snapshot.version}
