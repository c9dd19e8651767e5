"""Asks an interpreter whether it can read a text as Python. Nothing of the text runs."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from compile_lens.workers.loaded_before import without
from compile_lens.workers.tied import tied
from compile_lens.workers.tracked_environment import is_brought

LIMIT_S = 10.0
# a text takes hundreds of times its length while it is parsed
MOST_BYTES = 1 << 30
# without site-packages, the environment and the current folder: only the interpreter's own parser is needed
QUESTION = """\
import io, json, sys, traceback
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
except (ImportError, AttributeError, ValueError, OSError):
    pass
file, text = json.load(sys.stdin)
try:
    compile(text, file, "exec", dont_inherit=True)
except SyntaxError as error:
    line, column = error.lineno or 1, max(error.offset or 1, 1)
    end = error.end_lineno or line, error.end_offset or 0
    if end <= (line, column):
        end = line, column + 1
    json.dump([type(error).__name__, str(error), line, column, *end, (error.text or "").strip(),
               "".join(traceback.format_exception_only(type(error), error))], sys.stdout)
except (ValueError, RecursionError, MemoryError):
    pass
"""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A syntax error as Python tells it. Lines and columns count from 1."""

    type: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    formatted: str


async def ask_for_syntax_error(python: str, file: str, text: str) -> SyntaxProblem | None:
    """The syntax error of ``text``. None if there is none, and if ``python`` does not answer: the run itself says why."""
    try:
        process = await asyncio.create_subprocess_exec(
            python,
            "-I",
            "-S",
            "-c",
            QUESTION.replace("MOST_BYTES", str(MOST_BYTES)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parent,
            env={**os.environ, **without(os.environ, is_brought)},
            **tied(),
        )
    except OSError as error:
        log.info("%s was not asked for syntax errors: %s", python, error)
        return None
    try:
        said, _ = await asyncio.wait_for(process.communicate(json.dumps([file, text]).encode()), LIMIT_S)
        return SyntaxProblem(*json.loads(said)) if said else None
    except (asyncio.TimeoutError, ValueError, TypeError) as error:
        log.info("%s did not say whether it can read %s: %r", python, file, error)
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
