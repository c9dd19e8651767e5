"""``python -m tests.coverage_of_rules``: run the corpora on a copy of the product that notes what of it runs, and say what never does.

Functions, branches, patterns and rows of tables, in the server and in the agent's processes. Arguments are those of pytest, for other
tests than the corpora; ``--page`` writes docs/subsystems.md.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.coverage_of_rules.instrument import Spot, SpotKind, instrument
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
CORPORA = {
    "fixtures": ("tests/test_fixtures.py", "tests/test_fixtures_recorded.py", "tests/test_examples.py"),
    "programs": ("tests/test_differential.py",),
    "models": ("tests/test_models.py", "tests/test_variations.py", "tests/test_gpu_stand_in.py"),
    "recorded": ("tests/analysis", "tests/entries", "tests/syntax", "tests/trace"),
}


def main(arguments: list[str]) -> int:
    """Returns the first exit code of pytest that is not 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage_of_rules", description=__doc__)
    parser.add_argument("--data", type=Path, help="keep hits in this folder, and add to those that are there")
    parser.add_argument("--only", choices=CORPORA, action="append", help="run this corpus only (repeatable)")
    parser.add_argument("--page", action="store_true", help="write docs/subsystems.md")
    options, others = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        data = Data(options.data or Path(name))
        chosen = {"chosen": tuple(others)} if others else {each: CORPORA[each] for each in options.only or CORPORA}
        codes = [data.run(corpus, tests) for corpus, tests in chosen.items()]
        reach = data.reach()
    found = table(reach.subsystems())
    print(listing(reach, (SpotKind.BRANCH, SpotKind.FUNCTION, SpotKind.PATTERN, SpotKind.ROW)))
    print(f"\n{found}")
    if options.page:
        PAGE.write_text(TEXT.format(table=found), encoding="utf-8")
    return next((code for code in codes if code), 0)


class Data:
    """A folder with the instrumented copy, its spots, and a file of hits for each corpus that was run on it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._hits = self._folder / "hits"
        if not (self._folder / "spots").exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "spots").write_bytes(pickle.dumps(instrument(self._folder, self._hits)))
        self._spots: list[Spot] = pickle.loads((self._folder / "spots").read_bytes())

    def run(self, corpus: str, tests: Iterable[str]) -> int:
        """Run the tests on the copy; what they hit is added to the corpus's file. Returns pytest's exit code."""
        path = os.pathsep.join([str(self._folder / "server"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not nightly and not e2e"]
        self._hits.write_bytes(bytes(len(self._spots)))
        code = subprocess.run(
            [*command, *tests], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=False
        ).returncode
        kept = self._folder / f"{corpus}.hits"
        before = kept.read_bytes() if kept.exists() else bytes(len(self._spots))
        kept.write_bytes(bytes(map(max, before, self._hits.read_bytes())))
        return code

    def reach(self) -> Reach:
        """What all corpora reach that were run on this copy."""
        return Reach(self._spots, {each.stem: each.read_bytes() for each in sorted(self._folder.glob("*.hits"))})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
