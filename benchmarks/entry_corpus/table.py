"""Writes docs/corpus.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.entry_corpus.runs import Result

PAGE = Path(__file__).parent.parent.parent / "docs" / "corpus.md"


def write_table(results: Sequence[Result]) -> None:
    """Write the page from what was measured."""
    reached = sum(result.reached for result in results)
    groups = dict.fromkeys(result.name.partition(": ")[0] for result in results)
    summary = "\n".join(_group(name, [r for r in results if r.name.startswith(f"{name}: ")]) for name in groups)
    rows = "\n".join(_row(result) for result in results)
    PAGE.write_text(
        f"""# Real files, analysed with no help

Each file is analysed as `compile-lens check FILE` does it: as it is, with no entry named, and nothing arranged for it. Of
{len(results)} files, **{reached}** ({reached / len(results):.0%}) have at least one region or module compiled.

| group | files | analysed |
|---|---|---|
{summary}

Below: the entry that was used, what was compiled, graphs, graph breaks, recompiles and other findings, seconds; or the reason.
`python -m benchmarks.entry_corpus` measures, `--write` writes this page. Seconds are of a busy machine with two
cores, whose limit was 60 or 90 for each entry; they include the
import of the file's package. Files of packages are as `pip install --no-deps` puts them; those whose imports need more say so.

| file | entry | compiled, or why not | graphs | breaks | recompiles | other | s |
|---|---|---|---|---|---|---|---|
{rows}
""",
        encoding="utf-8",
    )


def _group(name: str, results: Sequence[Result]) -> str:
    return f"| {name} | {len(results)} | {sum(result.reached for result in results)} |"


def _row(result: Result) -> str:
    name = result.name.partition(": ")[2]
    what = (result.what if result.reached else result.reason).replace("|", "\\|")
    figures = (
        f"{result.graphs} | {result.breaks} | {result.recompiles} | {result.others}" if result.reached else " | | | "
    )
    entry = result.entry if result.reached else "–"
    return f"| {name} | {entry} | {what} | {figures} | {result.seconds:g} |"
