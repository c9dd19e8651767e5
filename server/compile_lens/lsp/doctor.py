"""The command that tells whether everything is there that an analysis needs: the page of ``compile-lens doctor``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.doctor import examine, to_markdown, worst
from compile_lens.workers.caches import cache_root
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

DOCTOR = "compileLens.doctor"


async def examine_for(server: CompileLensServer, uri: str | None) -> dict[str, Any] | None:
    """The page for the interpreter of a document, or of the workspace: ``state`` and ``markdown``; None where it may not run."""
    if not server.trusted:
        server.warn("Compile Lens does not start an interpreter in a workspace that is not trusted.")
        return None
    path = path_from_uri(uri) if uri is not None else None
    file = Path(path) if path else next(iter(server.folders()), Path.cwd()) / "program.py"
    try:
        python = find_interpreter(file, server.folders(), server.settings.python or None)
        facts = await ask_environment(python, os.environ)
    except (InterpreterError, HostError) as error:
        server.warn(str(error))
        return None
    checks = examine(facts, cache_root(os.environ))
    return {"state": worst(checks).value, "markdown": to_markdown(checks)}
