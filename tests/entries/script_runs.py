"""Projects of small scripts, and what a run of one of their files finds."""

from __future__ import annotations

from pathlib import Path

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost


def project(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def run(host: WarmHost, file: Path, said: str = "") -> Outcome:
    return host.run_choice(str(file), choose(str(file), file.read_text(), None, said))


def graph_breaks(outcome: Outcome) -> list[tuple[str, int]]:
    return [(f.place.file.rpartition("/")[2], f.place.line) for f in outcome.findings if f.code.startswith("GB")]
