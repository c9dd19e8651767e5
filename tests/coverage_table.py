"""Writes docs/coverage.md: which of torch's numbered graph breaks a program here has produced, at the line that it is about.

``python tests/coverage_table.py`` reads the registry and the source of the installed torch, and the expectations in the fixtures and
the corpus; ``test_coverage.py`` holds the table to those expectations.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from fixture_notation import read

HERE = Path(__file__).parent
TABLE = HERE.parent / "docs" / "coverage.md"
FOLDERS = (HERE / "corpus" / "graph_breaks", HERE / "fixtures")
CODE = re.compile(r"GB\d{4}$")

# why a code is not produced, for those of which that is known
REASONS = {
    "distributed": "GB0053 GB0172 GB1750 GB2696 GB9300 GB9860",
    "GPU": "GB0146 GB0216 GB0276 GB0283 GB0356 GB0361 GB3326 GB6735",
    "Python": "GB0024 GB0076 GB0079 GB0295 GB6276 GB6604 GB9898",
    "environment": "GB0106 GB0210 GB0232 GB3383",
    "export": "GB0173 GB0244 GB0353 GB6017 GB0327",
    "internal": "GB0027 GB0047 GB0052 GB0064 GB0071 GB0080 GB0089 GB0093 GB0118 GB0120 GB0122 GB0200 GB0205 GB0229 GB0305 GB0329"
    " GB0338 GB0349 GB0352 GB2922",
}
MEANING = {
    "gone": "the registry keeps the number, but nothing in this torch raises it",
    "distributed": "needs several processes",
    "GPU": "needs a GPU or Triton",
    "Python": "needs a Python version other than 3.11",
    "environment": "needs a package to be installed, or not to be",
    "export": "only torch.export reaches it",
    "internal": "an internal check of Dynamo, or an experimental feature",
    "open": "no test program reaches it yet",
}


def produced() -> dict[str, set[str]]:
    """The programs that have each code in their expectations."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in FOLDERS:
        for file in sorted(folder.glob("*.py")):
            for expected in read(file.read_text(encoding="utf-8")).expected:
                code = CODE.search(expected.code)
                if code is not None:
                    found[code[0]].add(file.stem)
    return found


def main() -> None:
    dynamo = torch_folder() / "_dynamo"
    registry = json.loads((dynamo / "graph_break_registry.json").read_text(encoding="utf-8"))
    raised = Raised(dynamo)
    known = {code: word for word, codes in REASONS.items() for code in codes.split()}
    programs = produced()
    rows: list[str] = []
    counts: dict[str, int] = defaultdict(int)
    for code, entries in sorted(registry.items()):
        title = entries[0]["Gb_type"]
        if code in programs:
            rows.append(f"| {code} | {_cell(title)} | {', '.join(sorted(programs[code]))} |")
            continue
        why = "gone" if not raised.has(title) else known.get(code, "open")
        counts[why] += 1
        rows.append(f"| {code} | {_cell(title)} | – {why} |")
    reached = sum(code in programs for code in registry)
    legend = "\n".join(
        f"- **{word}** ({counts[word]}): {meaning}." for word, meaning in MEANING.items() if counts[word]
    )
    TABLE.write_text(
        f"""# Which graph breaks are covered

torch numbers its kinds of graph breaks (`torch/_dynamo/graph_break_registry.json`). Of the {len(registry)} numbers of torch
{torch_version()}, **{reached}** have been produced by a test program and found at the right line.
`tests/corpus/graph_breaks` has a function per number, `tests/fixtures` has whole programs, with the number below the expression.
`tests/test_differential.py` compares each of their breaks with plain torch. The others are:

{legend}

`python tests/coverage_table.py` writes this page.

| code | torch's name | produced in |
|---|---|---|
"""
        + "\n".join(rows)
        + "\n",
        encoding="utf-8",
    )


def torch_folder() -> Path:
    """Where the installed torch is; it is not imported."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def torch_version() -> str:
    text = (torch_folder() / "version.py").read_text(encoding="utf-8")
    match = re.search(r"__version__ = '(\d+\.\d+\.\d+)", text)
    assert match is not None
    return match[1]


class Raised:
    """The strings in Dynamo's source, so that a title that is written in pieces, or filled in, is found."""

    def __init__(self, folder: Path) -> None:
        self._plain: set[str] = set()
        self._filled: list[re.Pattern[str]] = []
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self._plain.add(node.value)
                elif isinstance(node, ast.JoinedStr):
                    self._filled.append(re.compile("".join(_pieces(node)), re.DOTALL))

    def has(self, title: str) -> bool:
        return title in self._plain or any(pattern.fullmatch(title) for pattern in self._filled)


def _pieces(node: ast.JoinedStr) -> Iterator[str]:
    for value in node.values:
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        yield re.escape(value.value) if is_text else r"\{.+?\}"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    main()
