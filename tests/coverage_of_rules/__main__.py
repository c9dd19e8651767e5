"""``python -m tests.coverage_of_rules``: run the corpora on a copy of the product that notes what of it runs, and say what never does.

Functions, branches, patterns and rows of tables, in the server and in the agent's processes. Arguments are those of pytest, for other
tests than the corpora; ``--page`` writes the table into docs/subsystems.md.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.coverage_of_rules.instrument import SpotKind, instrument
from tests.coverage_of_rules.report import Reach, listing, table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "subsystems.md"
TABLE = re.compile(r"^\| subsystem .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
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
        PAGE.write_text(TABLE.sub(lambda _: found, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
