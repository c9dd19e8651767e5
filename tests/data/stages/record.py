"""Records the trace of a program with the torch of the interpreter that runs this: ``python record.py PROGRAM TARGET.log.gz``.

With torch's provenance, without the records that stages do not need, and with the folders of this machine renamed. With ``--lens`` before them,
it is the trace of a run for ``compile-lens stages``, with its notes and the times.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DROPPED = re.compile(r'\{"(?:chromium_event|describe_\w+|create_symbol|guard_added_fast)"')
TIMED = re.compile(r'"(?:pass\.|_recursive_|GraphLowering\.|Scheduler\.|bytecode_tracing|entire_|inductor_compile)')
LONG = re.compile(r'"name": "(?:fx_graph_cache_\w+|aotautograd_cache_\w+|fx_graph_runnable|torch\._functorch\.config|\w+_BYTECODE)"')


def records(text: str) -> Iterator[tuple[str, str]]:
    """The line of each record, and its payload without tabs."""
    for part in re.split(r"\n(?=V\d{4} )", text.rstrip("\n")):
        line, _, payload = part.partition("\n")
        yield line, payload.removeprefix("\t").replace("\n\t", "\n")


def plain_trace(program: Path, folder: str) -> str:
    """What torch writes by itself."""
    environment = {
        **os.environ,
        "TORCH_TRACE": f"{folder}/trace",
        "INDUCTOR_PROVENANCE": "1",
        "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache",
    }
    subprocess.run([sys.executable, str(program)], env=environment, check=True)
    (log,) = Path(folder, "trace").glob("*.log")
    return log.read_text()


def trace_of_lens(program: Path) -> str:
    """What a run of Compile Lens has."""
    from compile_lens.cli.stage_targets import RunOptions, open_target
    from compile_lens.pipeline.job_factory import Confinement

    (target,) = open_target(program, RunOptions(sys.executable, 600.0, "script", Confinement(), ()))
    trace = target.stages.trace
    assert trace is not None and not target.failure, target
    return trace[0 : len(trace)].decode()


def main() -> None:
    of_lens = sys.argv[1] == "--lens"
    program, target = (Path(argument).resolve() for argument in sys.argv[1 + of_lens :])
    with tempfile.TemporaryDirectory() as folder:
        text = trace_of_lens(program) if of_lens else plain_trace(program, folder)
        installed = str(Path(sys.prefix))
        names = {folder: "/cluster/run", str(program.parent): "/cluster/job", installed: "/cluster/env"}
        written = []
        for line, payload in records(text):
            is_time = of_lens and '{"chromium_event"' in line and TIMED.search(payload)
            if (DROPPED.search(line) or LONG.search(line)) and not is_time:
                continue
            for name, other in names.items():
                line, payload = line.replace(name, other), payload.replace(name, other)
            at = line.index("] {") + 2
            fields = json.loads(line[at:])
            if "has_payload" in fields:
                fields["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
                payload = "\n\t" + payload.replace("\n", "\n\t")
            written.append(line[:at] + json.dumps(fields) + payload + "\n")
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write("".join(written).encode())


if __name__ == "__main__":
    main()
