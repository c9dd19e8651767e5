"""Runs a corpus on whichever copy of the product is imported: ``python -m tests.coverage_of_rules.corpora NAME COUNTS``.

``COUNTS`` gets how many findings there were of each kind, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from compile_lens.analysis.outcome import Outcome
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.job import Depth, Job
from fixture_notation import depth_of, is_compared
from replay import RECORDINGS, recording, replay
from warm_host import WarmHost

TESTS = Path(__file__).parents[1]
FOLDERS = (
    TESTS / "fixtures",
    TESTS / "corpus" / "programs",
    TESTS / "corpus" / "graph_breaks",
    TESTS.parent / "examples",
)


def recordings() -> Iterator[tuple[str, str]]:
    """Archive and name of each recorded run."""
    for archive in RECORDINGS:
        yield from ((archive, file.removesuffix(".wire")) for file in recording(archive) if file.endswith(".wire"))


def program_files() -> Iterator[Path]:
    """The programs of all corpora."""
    return (file for folder in FOLDERS for file in sorted(folder.glob("[!_]*.py")))


def recorded() -> Iterator[Outcome]:
    """Runs on GPU machines, with the agent's notes and without."""
    for archive, name in recordings():
        yield replay(archive, name)
        yield replay(archive, name, with_notes=False)


def programs() -> Iterator[Outcome]:
    """All fixtures, corpus programs and examples, those without kernels first."""
    host = WarmHost()
    depths = {file: Depth(depth_of(file.read_text(encoding="utf-8"))) for file in program_files()}
    for file, depth in sorted(depths.items(), key=lambda each: list(Depth).index(each[1])):
        compare = is_compared(file.read_text(encoding="utf-8"))
        # with a lower priority it would take hours on a busy machine
        yield host.run(Job(str(file), depth=depth, compare=compare, sandbox=SandboxOptions(niceness=0)))
    host.close()


CORPORA = {"recorded": recorded, "programs": programs}


def main() -> None:
    name, counts = sys.argv[1:]
    kinds = Counter(finding.kind.value for outcome in CORPORA[name]() for finding in outcome.findings)
    Path(counts).write_text(json.dumps(kinds))


if __name__ == "__main__":
    main()
