"""torch's own bisection of a repro, as its documentation tells: ``python stock_bisect.py REPRO`` prints the result as JSON.

``--run`` does it with ``python -m torch._inductor.compiler_bisector run`` (torch 2.13), else with ``CompilerBisector.do_bisect`` in one
process. Both in a private cache directory: torch deletes the one that it is given.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from typing import Any

RESULT = re.compile(r"Bisection complete: BisectionResult\((?P<fields>.*)\)")
FIELD = re.compile(r"(\w+)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|None|\d+)")


def in_one_process(repro: str) -> dict[str, Any] | None:
    """``do_bisect`` with the repro's ``main``."""
    from torch._inductor.compiler_bisector import CompilerBisector

    main = runpy.run_path(repro)["main"]
    with contextlib.redirect_stdout(io.StringIO()):
        found = CompilerBisector.do_bisect(lambda: main() == 0)
    if found is None:
        return None
    fields = ("backend", "subsystem", "bisect_number", "debug_info")
    return {name: getattr(found, name) for name in fields}


def by_run(repro: str) -> dict[str, Any] | None:
    """The command that torch offers since 2.12."""
    command = [sys.executable, "-m", "torch._inductor.compiler_bisector", "run", sys.executable, repro]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    match = RESULT.search(ended.stdout)
    if match is None:
        if "no issue found" in ended.stdout:
            return None
        raise RuntimeError(ended.stdout[-2000:] + ended.stderr[-2000:])
    import ast

    return {name: ast.literal_eval(value) for name, value in FIELD.findall(match["fields"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repro")
    parser.add_argument("--run", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # torch keeps precompiled headers in the default cache directory, below the temporary one
        os.environ.update(TORCHINDUCTOR_CACHE_DIR=f"{folder}/cache", TMPDIR=folder, TORCH_REPRO_KEEP_CACHE="1")
        tempfile.tempdir = folder
        started = time.monotonic()
        found = (by_run if chosen.run else in_one_process)(chosen.repro)
        print(json.dumps({"result": found, "seconds": round(time.monotonic() - started, 2)}))


if __name__ == "__main__":
    main()
