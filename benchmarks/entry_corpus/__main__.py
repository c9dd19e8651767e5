"""``nice -n 15 python -m benchmarks.entry_corpus``: analyze each file of the corpus with no help, then with a line of it.

Packages are put below ``.cache``. Each result is kept in ``results.json`` as it comes; ``--write`` writes docs/corpus.md from there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

import cattrs

from benchmarks.entry_corpus.files import corpus
from benchmarks.entry_corpus.packages import install
from benchmarks.entry_corpus.runs import Result, run_all
from benchmarks.entry_corpus.table import write_table

RESULTS = Path(__file__).parent / "results.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only files whose name holds one of these, in this order")
    parser.add_argument("--since", default="", help="what was measured before this time is older: 2026-01-31 12:00")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for each entry of a file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--write", action="store_true", help="only write docs/corpus.md from the results")
    options = parser.parse_args()
    known = read(options.results)
    if options.write:
        write_table(list(known.values()), options.since)
        return 0
    packages = install()
    files = {f"{file.group}: {file.name}": file for file in corpus(packages) if file.is_there}
    wanted = list(dict.fromkeys(name for part in options.names or [""] for name in files if part in name))
    if options.since:
        wanted = [name for name in wanted if name not in known or known[name].at < options.since]
    path = os.pathsep.join(part for part in (str(packages), os.environ.get("PYTHONPATH", "")) if part)
    cache = packages.parent / "inductor"

    def keep(result: Result) -> None:
        known[result.name] = result
        print(result.line, flush=True)
        in_order = [known[name] for name in files if name in known]
        options.results.write_text(json.dumps(cattrs.unstructure(in_order), indent=1) + "\n", encoding="utf-8")

    environment = {**os.environ, "PYTHONPATH": path}
    asyncio.run(run_all([files[name] for name in wanted], sys.executable, environment, cache, options.timeout, keep))
    return 0


def read(results: Path) -> dict[str, Result]:
    """The results that are kept there, by the name of the file."""
    if not results.exists():
        return {}
    kept = cattrs.structure(json.loads(results.read_text(encoding="utf-8")), list[Result])
    return {result.name: result for result in kept}


if __name__ == "__main__":
    sys.exit(main())
