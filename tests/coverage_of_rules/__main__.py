"""``python -m tests.coverage_of_rules``: run the corpora on a copy of the product that notes what of it runs, and say what never does.

Functions, branches, patterns and rows of tables, in the server and in the agent's processes. Arguments are those of pytest, for other
tests than the corpora; ``--page`` writes docs/subsystems.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.coverage_of_rules.instrument import SpotKind, instrument
from tests.coverage_of_rules.report import Reach, listing, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "subsystems.md"
TEXT = """\
# What the corpora reach

`python -m tests.coverage_of_rules --page` writes this page. It makes a copy of the product in which each function, branch, pattern
and row of a table notes that it ran, in the server and in the agent's processes, and runs the fixtures, corpora, recorded runs and
error programs on it.

- **functions**: run at all.
- **branches**: run, of those in functions that ran.
- **patterns**: matched, of those that were tried.
- **rows of tables**: used, of tables that are looked up by name.

{table}

## Kept, though no corpus reaches it

| What | Why |
|---|---|
| rows of `BY_CLASS` in `analysis/error_stages.py` for Triton, CUTLASS and unbacked sizes | torch raises these classes; most need a GPU |
| dtypes in `analysis/guards.py` and `analysis/wrong_numbers.py` | the tables list all that torch writes |
| names of nameless frames in `analysis/cost.py` | comprehensions have frames until Python 3.11 |
| words of other versions in `trace/break_text.py` and `trace/failure_text.py` | traces come from torch 2.6 to the newest |
| `syntax/compiler_output.py`, `syntax/cells.py`, `syntax/mentions.py` | for dumps, notebooks and editors; tests reach them |
| `lsp/`, `cli/`, `agent/search/`, `agent/tables/` | the corpora are analyses; tests of these rooms reach them |
"""
# tests that analyze programs, recorded runs and error texts, and those that find inputs for what cannot be run
CORPORA = (
    "tests/test_fixtures.py",
    "tests/test_fixtures_recorded.py",
    "tests/test_examples.py",
    "tests/test_differential.py",
    "tests/test_models.py",
    "tests/test_variations.py",
    "tests/test_gpu_stand_in.py",
    "tests/analysis",
    "tests/entries",
    "tests/syntax",
    "tests/trace",
)


def main(arguments: list[str]) -> int:
    """Returns pytest's exit code."""
    writes = "--page" in arguments
    chosen = [each for each in arguments if each != "--page"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spots = instrument(folder, folder / "hits")
        path = os.pathsep.join([str(folder / "server"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not nightly and not e2e"]
        code = subprocess.run(
            [*command, *(chosen or CORPORA)], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=False
        ).returncode
        reach = Reach(spots, (folder / "hits").read_bytes())
    found = table(reach.subsystems())
    print(listing(reach, (SpotKind.BRANCH, SpotKind.FUNCTION, SpotKind.PATTERN, SpotKind.ROW)))
    print(f"\n{found}")
    if writes:
        PAGE.write_text(TEXT.format(table=found), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
