"""Writes docs/corpus.md."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.entry_corpus.packages import LIST
from benchmarks.entry_corpus.runs import Result, Run

# what has to be said of the last measurement, by whoever made it
NOTES = Path(__file__).with_name("notes.md")
PAGE = Path(__file__).parent.parent.parent / "docs" / "corpus.md"


def write_table(results: Sequence[Result], since: str) -> None:
    """Write the page from what was measured; what was measured before ``since`` is marked."""
    groups = dict.fromkeys(_group_of(result) for result in results)
    summary = "\n".join(_group(name, [r for r in results if _group_of(r) == name]) for name in groups)
    older = [result for result in results if result.at < since]
    rows = "\n".join(_row(result, result in older) for result in results)
    days = " to ".join(dict.fromkeys((min(r.at for r in results)[:10], max(r.at for r in results)[:10])))
    packages = ", ".join(
        line.replace("==", " ") for line in LIST.read_text(encoding="utf-8").split("\n") if "==" in line
    )
    PAGE.write_text(
        f"""# Real files, analyzed without help

These files were looked at during development; [others](unseen.md) were not when they were analyzed.

Each file is analyzed by `compile-lens check FILE`, unchanged and without naming an entry. Of
{len(results)} files, **{_share(results, [r for r in results if r.alone.reached])}** compile at least one region or module without
help, and **{_share(results, [r for r in results if r.best.reached])}** with at most one line of help.
{_confirmed(results)}{_older(older, results)}

| group | files | without help | with one line |
|---|---|---|---|
{summary}

`python -m benchmarks.entry_corpus` measures; `--write` writes this page. Measured {days} with torch
{version("torch")}, transformers {version("transformers")}, and
{packages}.

- *entry*: the entry that was used. *compiled*: what was compiled, or why nothing was.
- *other*: findings other than breaks and recompiles. *s*: seconds on a busy machine with two cores, including the import of the file's
  package.
- *with one line of help*: for files that compiled nothing by themselves, the figures are those of the run with that line.
  The lines are below.
- *confirmed*: a script of plain torch, independent of this project, makes the same calls. The number of findings that it has at the same
  lines is given: breaks by code, recompiles by function and guards, fixed sizes, side effects and errors. A plus counts what only plain
  torch reported. "–" means that the findings do not come from synthesized inputs. For a file that asks for a GPU, the run without the
  stand-in was compared, since the plain script has no GPU.
- Packages are installed by `pip install --no-deps`. One is changed: the torchvision of PyPI is for CUDA, and its library does not load
  beside a CPU build of torch. Two of its operators are therefore declared, since its Python part cannot be imported without them.
  Files of timm import torchvision.
- Modules that the file does not compile itself are compiled separately, with `torch._dynamo.reset()` between them, also in the plain
  script. What two of them share therefore causes no recompile.

{NOTES.read_text(encoding="utf-8").strip()}

| file | entry | compiled, or why not | graphs | breaks | recompiles | other | s | with one line of help | confirmed |
|---|---|---|---|---|---|---|---|---|---|
{rows}

## The lines of help

{_lines(results)}

## Findings of only one of the two runs

{_differences(results)}
""",
        encoding="utf-8",
    )


def _group_of(result: Result) -> str:
    return result.name.partition(": ")[0]


def _file(result: Result) -> str:
    return result.name.partition(": ")[2]


def _share(results: Sequence[Result], some: Sequence[Result]) -> str:
    return f"{len(some)} ({len(some) / len(results):.1%})"


def _confirmed(results: Sequence[Result]) -> str:
    known = [result.best.confirmed for result in results if result.best.confirmed is not None]
    findings, confirmed = sum(one.findings for one in known), sum(one.confirmed for one in known)
    more = sum(len(one.differences) for one in known) - (findings - confirmed)
    return (
        f"{len(known)} files had findings with inputs that were synthesized or given in the line of help. A plain script made the\n"
        f"same calls: **{confirmed} of {findings}** findings are confirmed, and it had {more or 'nothing'} that the runs did not find."
    )


def _group(name: str, results: Sequence[Result]) -> str:
    alone, best = sum(r.alone.reached for r in results), sum(r.best.reached for r in results)
    return f"| {name} | {len(results)} | {alone} | {best} |"


def _older(older: Sequence[Result], results: Sequence[Result]) -> str:
    if not older:
        return ""
    now = [result for result in results if result not in older]
    return (
        f"\n\nOf the {len(now)} rows that were measured now, {sum(r.alone.reached for r in now)} compile something without help, and"
        f" {sum(r.best.reached for r in now)} with a line."
        f"\n**{len(older)} of the {len(results)} rows are older** and marked so: they are of an earlier state of the project. Their"
        " findings were\nnot run again under a plain torch, and recompiles between modules that the file does not call together are among"
        " them."
    )


def _row(result: Result, is_older: bool) -> str:
    run = result.best
    what = (result.alone.what if result.alone.reached else result.alone.reason).replace("|", "\\|")
    figures = f"{run.graphs} | {run.breaks} | {run.recompiles} | {run.others}" if run.reached else " | | | "
    entry = result.alone.entry if result.alone.reached else "–"
    name = f"{_file(result)} (older)" if is_older else _file(result)
    said = "not run" if is_older else _reproduced(run)
    return f"| {name} | {entry} | {what} | {figures} | {run.seconds:g} | {_helped(result)} | {said} |"


def _helped(result: Result) -> str:
    if result.helped is None:
        return "" if result.alone.reached else "none is known"
    return f"{result.helped.what} compiled" if result.helped.reached else result.helped.reason.replace("|", "\\|")


def _reproduced(run: Run) -> str:
    if run.confirmed is None:
        return "–" if run.findings else "no findings"
    more = len(run.confirmed.differences) - (run.confirmed.findings - run.confirmed.confirmed)
    said = f"{run.confirmed.confirmed} of {run.confirmed.findings}"
    return f"{said}, +{more}" if more else said


def _lines(results: Sequence[Result]) -> str:
    lines = [f"- {_file(result)}: `# compile-lens: entry={result.help}`" for result in results if result.help]
    return "\n".join(lines) or "None was needed."


def _differences(results: Sequence[Result]) -> str:
    lines = [
        f"- {_file(result)}: {difference}"
        for result in results
        if result.best.confirmed is not None
        for difference in result.best.confirmed.differences
    ]
    return "\n".join(lines) or "Nothing."
