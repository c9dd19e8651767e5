"""Asks an interpreter for its environment, for the doctor (agent/runtime/environment_report.py)."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Mapping
from pathlib import Path

from compile_lens.agent.runtime.environment_facts import EnvironmentFacts, environment_facts
from compile_lens.workers.brought_compilers import brought_compilers
from compile_lens.workers.host import BOOT, NEUTRAL_FOLDER, HostError
from compile_lens.workers.import_path import fixed
from compile_lens.workers.interpreter import cannot_analyze, cannot_start, no_torch_within
from compile_lens.workers.tied import tied

LIMIT_S = 180.0


async def ask_environment(python: str, environment: Mapping[str, str]) -> EnvironmentFacts:
    """What the agent finds there. Imports torch there, runs no file of the user's. Raises HostError."""
    try:
        process = await asyncio.create_subprocess_exec(
            python,
            str(BOOT),
            "environment",
            *_folder(),
            *brought_compilers(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, **fixed(environment)},
            cwd=NEUTRAL_FOLDER,
            **tied(),
        )
    except OSError as error:
        raise HostError(cannot_start(python, error)) from None
    try:
        said, errors = await asyncio.wait_for(process.communicate(), LIMIT_S)
        facts = environment_facts(said)
    except TimeoutError:
        raise HostError(no_torch_within(python, LIMIT_S)) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if facts is None:
        raise HostError(cannot_analyze(python, errors.decode("utf-8", "replace")))
    return facts


def _folder() -> list[str]:
    """The current folder, whose compilers are not tried; none where it is deleted."""
    try:
        return [str(Path.cwd())]
    except OSError:
        return []
