"""``python -m tests.corpus.outcomes FILE…``: analyzes files as a user would, and says of each what was reached.

A file's main model is its module that uses most of the file (counted here from the syntax tree, not asked of the product). It is
reached where it, or a class that inherits its `forward`, was called, or one of its methods was compiled. Of a script without modules of its
own, its run is what must compile something: a helper that is called with synthesized inputs is a part. Of other files without modules, a
function is enough.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.corpus.draw import is_script
from tests.corpus.environments import interpreter_of

LIMIT_S = 300
# a shared machine is slower than a user's; what the product limits is processor time
RUN_S = 240


@dataclass(frozen=True)
class Reached:
    """What came out for one file. ``how`` is ``main``, ``part`` or ``nothing``."""

    file: str
    how: str
    main: str
    seconds: float
    entry: str
    called: tuple[str, ...]
    findings: tuple[str, ...]
    reason: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--list", type=Path, help="a file with a path on each line")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to analyze with")
    parser.add_argument("--table", action="store_true", help="print the results as a table of Markdown, too")
    parser.add_argument("--seconds", type=float, default=RUN_S, help="the time limit of each entry")
    parser.add_argument("--folder", type=Path, help="where packages were unpacked: their own interpreters are used")
    parser.add_argument(
        "--results", type=Path, help="where to keep the results, as JSON; what is there is not run again"
    )
    parser.add_argument("--reports", type=Path, help="a folder where to keep all that each check says, as JSON")
    options = parser.parse_args()
    files = [*options.files, *(map(Path, options.list.read_text("utf-8").split()) if options.list else ())]
    kept: dict[str, Any] = {}
    if options.results and options.results.exists():
        kept = {row["file"]: row for row in json.loads(options.results.read_text("utf-8"))}
    for file in files:
        if str(file) in kept:
            continue
        own = interpreter_of(file.absolute(), options.folder.absolute()) if options.folder else None
        reached = outcome_of(file, str(own or options.python), options.seconds, options.reports)
        kept[str(file)] = asdict(reached)
        if options.results:
            options.results.write_text(json.dumps(list(kept.values()), indent=1) + "\n", encoding="utf-8")
        print(f"{reached.how:8}{reached.seconds:6.1f} s  {file}  {reached.main}: {reached.reason}", flush=True)
    rows = [kept[str(file)] for file in files]
    counts = {how: sum(row["how"] == how for row in rows) for how in ("main", "part", "nothing")}
    print(", ".join(f"{how}: {count}" for how, count in counts.items()), f"of {len(rows)}")
    if options.table:
        print("\n".join(table_of(rows)))
    return 0


def table_of(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A row for each file, by package."""
    yield "| file | main model | reached | s | entry | first reason or finding |"
    yield "|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: _short(row["file"])):
        reason = " ".join(_without_home(row["reason"]).replace("|", "/").replace("`", "").split())[:140]
        main = f"`{row['main']}`" if row["main"] else ""
        entry = f"`{row['entry']}`" if row["entry"] else ""
        yield f"| `{_short(row['file'])}` | {main} | {row['how']} | {row['seconds']:.0f} | {entry} | {f'`{reason}`' if reason else ''} |"


def _without_home(text: str) -> str:
    """``text`` without the home folder of who has run it, and without folders above the installed packages."""
    text = re.sub(r"(?<![\w~])(?:/[\w.+-]+)+/(?=lib/python3)", "…/", text)
    return text.replace(str(Path.home()), "~")


def _short(file: str) -> str:
    """A path from the folder of the source distribution on, whose name ends with a version."""
    parts = Path(file).parts
    start = next((i for i, part in enumerate(parts) if re.search(r"-\d+(?:\.\w+)+$", part)), 0)
    return "/".join(parts[start:])


def outcome_of(file: Path, python: str, seconds: float = RUN_S, reports: Path | None = None) -> Reached:
    """Analyze ``file`` with ``compile-lens check``, within ``seconds`` for each entry. Its output is kept in ``reports``."""
    started = time.monotonic()
    command = [sys.executable, "-m", "compile_lens", "check", "--format", "json", "--timeout", f"{seconds:g}"]
    command += ["--python", python, str(file)]
    largest = main_model(file)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if reports is not None:
            reports.mkdir(parents=True, exist_ok=True)
            (reports / f"{_short(str(file)).replace('/', '__')}.json").write_text(done.stdout, "utf-8")
        run = json.loads(done.stdout)["runs"][0]
    except (subprocess.SubprocessError, ValueError) as problem:
        return Reached(
            str(file), "nothing", largest, time.monotonic() - started, "", (), (), f"{type(problem).__name__}"
        )
    called = tuple(call["target"] or call["text"] for call in run["calls"])
    names = {name for call in run["calls"] for name in (call["target"], call["text"], call["making"])}
    # one that the source shows and nothing reaches is not analyzed
    regions = [region["name"] for region in run["regions"] if region["graphs"] or region["breaks"]]
    names |= set(regions)
    anything = bool(called or regions)
    mains = {largest, *inheriting(file, largest)}
    is_helper = not largest and run["entry"] == "synthesized" and is_script(file)
    is_main = anything and not is_helper and (
        not largest or any(re.search(rf"\b{re.escape(main)}\b", name) for main in mains for name in names)
    )
    findings = tuple(f"{f['kind']} {f['code']}: {f['message']}" for f in run["findings"])
    defined = (run["coverage"] or {"definitions": []})["definitions"]
    reason = "; ".join(f"{one['name']}: {one['reason']}" for one in defined if one["name"] == largest and one["reason"])
    reason = reason or run["failure"] or "; ".join(way["reason"] for way in run["passed_over"]) or next(iter(findings), "")
    how = "main" if is_main else "part" if anything else "nothing"
    return Reached(str(file), how, largest, time.monotonic() - started, run["entry"], called, findings, reason[:300])


def main_model(file: Path) -> str:
    """The top-level class with a ``forward`` that uses most of the lines of ``file``, through the classes that it names; ''.

    One whose ``forward`` is left to subclasses is no model.
    """
    try:
        top = ast.parse(file.read_text("utf-8", errors="replace")).body
    except SyntaxError:
        return ""
    classes = {node.name: node for node in top if isinstance(node, ast.ClassDef)}
    uses = {
        name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in classes and n.id != name}
        for name, node in classes.items()
    }

    def lines(name: str) -> int:
        found, waiting = set(), [name]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += uses[each]
        return sum((classes[n].end_lineno or 0) - classes[n].lineno + 1 for n in found)

    modules = [
        name
        for name, node in classes.items()
        if any(isinstance(n, ast.FunctionDef) and n.name == "forward" and not _is_left_open(n) for n in node.body)
    ]
    return max(modules, key=lines, default="")


def inheriting(file: Path, name: str) -> set[str]:
    """The classes of ``file`` that inherit the ``forward`` of the class ``name``: a call of one runs it."""
    try:
        top = ast.parse(file.read_text("utf-8", errors="replace")).body
    except SyntaxError:
        return set()
    found = {name} if name else set()
    for node in (node for node in top if isinstance(node, ast.ClassDef)):
        is_own = any(isinstance(each, ast.FunctionDef) and each.name == "forward" for each in node.body)
        if not is_own and any(isinstance(base, ast.Name) and base.id in found for base in node.bases):
            found.add(node.name)
    return found - {name}


def _is_left_open(function: ast.FunctionDef) -> bool:
    """Whether it is abstract, or does no more than raise NotImplementedError."""
    body = [node for node in function.body if not isinstance(node, (ast.Pass, ast.Expr))]
    raises = bool(body) and isinstance(body[0], ast.Raise) and "NotImplementedError" in ast.dump(body[0])
    return not body or raises or any("abstractmethod" in ast.dump(node) for node in function.decorator_list)


if __name__ == "__main__":
    sys.exit(main())
