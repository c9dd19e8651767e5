"""``python -m tests.coverage_of_rules``: run the corpora on a copy of the product that notes what of it runs, and say what never does.

Functions, branches, patterns and rows of tables, in the server and in the agent's processes. Arguments are those of pytest, for other
tests than the corpora; ``--page`` writes docs/subsystems.md.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.coverage_of_rules.corpora import program_files, recordings
from tests.coverage_of_rules.instrument import Spot, SpotKind, instrument
from tests.coverage_of_rules.report import Reach, findings_table, listing, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "subsystems.md"
# what a person writes begins here
PROSE = "## Removed"
TEXT = """\
# What each subsystem buys

`python -m tests.coverage_of_rules --page` writes the numbers of this page. It makes a copy of the product in which each function, branch,
pattern and row of a table notes that it ran, in the server and in the agent's processes, and runs these corpora on it:

- **recorded**: {recorded} runs that were recorded on GPU machines (`tests/data`), with the agent's notes and without.
- **programs**: {programs} fixtures, corpus programs and examples, run with the agent.
- **tests**: tests of texts: errors, guards, hints, predictions, entries, traces.

Of the columns, **functions** ran at all. **Branches** ran, of those in functions that ran. **Patterns** matched, of those that were tried.
**Rows** of tables were used, of tables that are looked up by name. The last columns are the functions that each corpus alone reaches.

{table}

## Findings

{findings}

{prose}"""
# tests of texts: those that start no agent
FOLDERS = ("analysis", "syntax", "trace", "diff", "formats", "knowledge", "entries")
STARTS_AGENT = re.compile(r"warm_host|WarmHost|Host\(|\bWarm\b|extract")
TEXTS = tuple(
    str(file.relative_to(ROOT))
    for folder in FOLDERS
    for file in sorted((ROOT / "tests" / folder).glob("test_*.py"))
    if not STARTS_AGENT.search(file.read_text(encoding="utf-8"))
)
CORPORA = {
    "recorded": ("-m", "tests.coverage_of_rules.corpora", "recorded"),
    "programs": ("-m", "tests.coverage_of_rules.corpora", "programs"),
    "tests": TEXTS,
}
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not nightly and not e2e")


def main(arguments: list[str]) -> int:
    """Returns the first exit code of pytest that is not 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage_of_rules", description=__doc__)
    parser.add_argument("--data", type=Path, help="keep hits in this folder, and add to those that are there")
    parser.add_argument("--only", choices=CORPORA, action="append", help="run this corpus only (repeatable)")
    parser.add_argument("--page", action="store_true", help="write docs/subsystems.md")
    parser.add_argument("--no-run", action="store_true", help="run nothing: report what --data holds")
    options, others = parser.parse_known_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        data = Data(options.data or Path(name))
        chosen = {"chosen": tuple(others)} if others else {each: CORPORA[each] for each in options.only or CORPORA}
        codes = [data.run(corpus, tests) for corpus, tests in chosen.items() if not options.no_run]
        reach = data.reach()
        counts = data.counts()
    found = table(reach.subsystems(), reach.corpora)
    listed = listing(reach, (SpotKind.BRANCH, SpotKind.FUNCTION, SpotKind.PATTERN, SpotKind.ROW))
    # a pattern may have half a character
    print(listed.encode("utf-8", "backslashreplace").decode("utf-8"))
    print(f"\n{found}")
    if options.page:
        prose = PAGE.read_text(encoding="utf-8").partition(PROSE)
        text = TEXT.format(
            table=found,
            findings=findings_table(counts),
            recorded=len(list(recordings())),
            programs=len(list(program_files())),
            prose="".join(prose[1:]),
        )
        PAGE.write_text(text, encoding="utf-8")
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

    def run(self, corpus: str, tests: tuple[str, ...]) -> int:
        """Run the tests on the copy; what they hit is added to the corpus's file. Returns pytest's exit code."""
        path = os.pathsep.join([str(self._folder / "server"), str(ROOT), str(ROOT / "tests")])
        own = tests[:1] == ("-m",)
        command = [*tests, str(self._folder / f"{corpus}.json")] if own else [*PYTEST, *tests]
        self._hits.write_bytes(bytes(len(self._spots)))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, os.environ.get("PYTHONPATH", "")])}
        code = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=False).returncode
        kept = self._folder / f"{corpus}.hits"
        before = kept.read_bytes() if kept.exists() else bytes(len(self._spots))
        kept.write_bytes(bytes(map(max, before, self._hits.read_bytes())))
        return code

    def counts(self) -> dict[str, dict[str, int]]:
        """How many findings of each kind there were in each corpus."""
        return {file.stem: json.loads(file.read_text()) for file in sorted(self._folder.glob("*.json"))}

    def reach(self) -> Reach:
        """What all corpora reach that were run on this copy."""
        return Reach(self._spots, {each.stem: each.read_bytes() for each in sorted(self._folder.glob("*.hits"))})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
