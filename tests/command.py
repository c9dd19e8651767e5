"""The command ``compile-lens`` for tests: as a process of its own, or in this process with the warm host, which is 50 times as fast."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.processes import Mark

from compile_lens.cli import bisect, logs, main, minify, repro
from compile_lens.pipeline import file_analysis
from compile_lens.workers.host import Host
from warm_host import WarmHost

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "findings.schema.json").read_text())
THAT_RUN_FILES = (bisect, file_analysis, logs, minify, repro)


class Result:
    """One finished command, as a user runs it: in a new process, which leaves none behind."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        mark = Mark()
        done = subprocess.run(
            [sys.executable, "-m", "compile_lens", *arguments],
            cwd=folder,
            env=mark.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
        self.code: Any
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert "Traceback" not in self.err
        assert mark.none_left()

    @property
    def runs(self) -> list[dict[str, Any]]:
        document = json.loads(self.out)
        jsonschema.validate(document, SCHEMA)
        assert document["tool"]["name"] == "compile-lens"
        runs: list[dict[str, Any]] = document["runs"]
        return runs


class Warm(Result):
    """The same command without a new process: its ``main``, with the host that this test process keeps warm."""

    host: WarmHost

    def __init__(self, arguments: list[str], folder: Path) -> None:
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
            for module in THAT_RUN_FILES:
                patched.setattr(module, "Host", self._host_of)
            patched.setattr(asyncio, "run", self.host.wait_for)
            patched.setattr(sys, "argv", ["compile-lens", *arguments])
            patched.chdir(folder)
            with pytest.raises(SystemExit) as end:
                main.main()
        self.code = end.value.code
        self.out, self.err = out.getvalue(), err.getvalue()
        assert "Traceback" not in self.err

    def _host_of(self, python: str, environment: dict[str, str] | None = None) -> Host:
        return self.host.shared() if python == sys.executable else Host(python, environment)
