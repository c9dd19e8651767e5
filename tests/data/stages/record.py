"""Records the trace of a program with the torch of the interpreter that runs this: ``python record.py PROGRAM TARGET.log.gz``.

With torch's provenance, without the records that stages do not need, and with the folders of this machine renamed.
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
LONG = re.compile(r'"name": "(?:fx_graph_cache_\w+|aotautograd_cache_\w+|fx_graph_runnable|torch\._functorch\.config|\w+_BYTECODE)"')


def records(text: str) -> Iterator[tuple[str, str]]:
    """The line of each record, and its payload without tabs."""
    for part in re.split(r"\n(?=V\d{4} )", text.rstrip("\n")):
        line, _, payload = part.partition("\n")
        yield line, payload.removeprefix("\t").replace("\n\t", "\n")


def main() -> None:
    program, target = (Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TORCH_TRACE": f"{folder}/trace",
            "INDUCTOR_PROVENANCE": "1",
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache",
        }
        subprocess.run([sys.executable, str(program)], env=environment, check=True)
        (log,) = Path(folder, "trace").glob("*.log")
        installed = str(Path(sys.prefix))
        names = {folder: "/cluster/run", str(program.parent): "/cluster/job", installed: "/cluster/env"}
        written = []
        for line, payload in records(log.read_text()):
            if DROPPED.search(line) or LONG.search(line):
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
