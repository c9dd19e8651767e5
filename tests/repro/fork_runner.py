"""Runs scripts, each as ``__main__`` in a new process that has torch imported: a fork of this one, which saves the import.

A line of standard input is JSON: modules to import before, and a list of [path, variables]. The answer is a line of JSON per script: its
exit code (negative for a signal), and what it printed. Started by the tests; it knows nothing of the project.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback

import torch
import torch._dynamo
import torch._inductor.compile_fx


def run(path: str, variables: dict[str, str]) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+") as output:
        pid = os.fork()
        if pid == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            os.environ.update(variables)
            sys.argv = [path]
            sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120
            code = 0
            try:
                runpy.run_path(path, run_name="__main__")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            except BaseException:
                traceback.print_exc()
                code = 99
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        return code, output.read()


if __name__ == "__main__":
    assert torch.__version__
    for line in sys.stdin:
        modules, scripts = json.loads(line)
        for module in modules:
            importlib.import_module(module)
        for script, environment in scripts:
            print(json.dumps(run(script, environment)), flush=True)
