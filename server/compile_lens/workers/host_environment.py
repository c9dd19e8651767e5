"""The variables that the agents of one host are started with, and the caches that these name."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.workers.access import Access
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.caches import cache_root, keep_others_out, private_cache_environment, temporary_cache
from compile_lens.workers.import_path import fixed, whole
from compile_lens.workers.job import Job
from compile_lens.workers.secret_variables import hidden

# torch/__init__.py, ``_import_device_backends`` (2.5 and later): one that cannot be loaded ends `import torch`
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
FAILED_BACKEND = re.compile(rf"Failed to load the backend extension: (\S+)\. .*\b{AUTOLOAD}=0")


class CacheError(Exception):
    """torch could not write to its caches; its text is one sentence for the user."""


class HostEnvironment:
    """The user's variables, with folders of ours for caches: temporary ones where the usual ones are read-only."""

    def __init__(self, variables: Mapping[str, str] | None) -> None:
        self.variables = dict(os.environ if variables is None else variables)
        self._temporary_caches: Path | None = None
        # why the caches are not where they should be, '' if they are
        self.cache_note = ""
        # what torch is imported without, '' if it is whole
        self.backend_note = ""

    @property
    def caches(self) -> Path:
        """The folder of the caches."""
        return cache_root(self.variables)

    def check_caches(self) -> None:
        """Raise CacheError if torch cannot write to its caches."""
        problem = find_cache_problem(self.caches)
        if problem is None:
            return
        if not problem.is_read_only or self._temporary_caches is not None:
            raise CacheError(str(problem))
        self.variables = temporary_cache(self.variables)
        self._temporary_caches = self.caches.parent
        self.cache_note = (
            f"Unavailable: caches of earlier runs (the cache folder {problem.says}). This run used a temporary folder."
        )

    def does_without_backends(self, message: str) -> bool:
        """Whether torch, which could not be imported for the reason ``message``, can be tried again without extensions for devices."""
        failed = FAILED_BACKEND.search(message)
        if failed is None or self.variables.get(AUTOLOAD) == "0":
            return False
        self.variables[AUTOLOAD] = "0"
        self.backend_note = (
            f"torch was imported without its extension `{failed[1]}`, which cannot be loaded on this machine. Set `{AUTOLOAD}=0` to run"
            " your program here."
        )
        return True

    def of_agent(self) -> dict[str, str]:
        """What an agent is started with: it never has secrets, which only runs with full access get."""
        with contextlib.suppress(OSError):  # a run says what is wrong with them
            keep_others_out(self.variables)
        return {
            **self.variables,
            **hidden(self.variables),
            **private_cache_environment(self.variables),
            **fixed(self.variables),
        }

    def completed(self, job: Job) -> Job:
        """``job`` with the variables that its agent was not started with."""
        own = {name: self.variables[name] for name in hidden(self.variables)} if job.access is Access.FULL else {}
        return replace(job, env={**whole(self.variables), **own, **job.env})

    def tells_secrets(self, job: Job) -> bool:
        """Whether ``job`` gets a secret, which stays in the memory of its agent."""
        return job.access is Access.FULL and bool(hidden(self.variables))

    async def close(self) -> None:
        """Delete temporary caches."""
        if self._temporary_caches is not None:
            await asyncio.to_thread(remove_folder, str(self._temporary_caches))
