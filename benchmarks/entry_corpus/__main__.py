"""``python -m benchmarks.entry_corpus [--downloaded FOLDER] [--only TEXT] [--write]``: analyse each file with no help.

``FOLDER`` holds packages: ``pip install --no-deps --target FOLDER einops x-transformers vit-pytorch diffusers timm rotary-embedding-torch
performer-pytorch local-attention axial-positional-embedding einx loguru hyper-connections torch-einops-utils frozendict pillow``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from benchmarks.entry_corpus.files import corpus
from benchmarks.entry_corpus.runs import Result, run_all
from benchmarks.entry_corpus.table import write_table

RESULTS = Path(__file__).parent / "results.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--downloaded", type=Path, help="the folder of the downloaded packages")
    parser.add_argument("--only", default="", help="only files whose path holds this")
    parser.add_argument("--new", action="store_true", help="only files that results.json does not have")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for each entry of a file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--write", action="store_true", help="only write docs/corpus.md from results.json")
    options = parser.parse_args()
    known = (
        {r["name"]: Result(**r) for r in json.loads(options.results.read_text())} if options.results.exists() else {}
    )
    if options.write:
        write_table(list(known.values()))
        return 0
    files = [
        file
        for file in corpus(options.downloaded and options.downloaded.resolve())
        if options.only in str(file.path) and file.is_there
    ]
    if options.new:
        files = [file for file in files if f"{file.group}: {file.name}" not in known]
    environment = dict(os.environ)
    if options.downloaded is not None:
        path = [str(options.downloaded.resolve()), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(part for part in path if part)

    def keep(result: Result) -> None:
        known[result.name] = result
        print(result.line, flush=True)
        options.results.write_text(json.dumps([vars_of(r) for r in known.values()], indent=1) + "\n")

    asyncio.run(run_all(files, sys.executable, environment, options.timeout, keep))
    return 0


def vars_of(result: Result) -> dict[str, object]:
    return {name: getattr(result, name) for name in Result.__slots__}


if __name__ == "__main__":
    sys.exit(main())
