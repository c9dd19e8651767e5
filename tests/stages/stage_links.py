"""Writes docs/stage-links.md: how much of what torch generates is linked to source, per recorded program.

``python -m tests.stages.stage_links --tlparse PATH`` compares with the provenance view of tlparse on the same traces.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compile_lens.stages.model import StageKind
from compile_lens.stages.opened import read_stages

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
PAGE = ROOT / "docs" / "stage-links.md"
MAPPINGS = re.compile(r'<script id="lineMappings" type="application/json">(.*?)</script>', re.DOTALL)
HEAD = """# How much is linked to source

Each row is a recorded trace: the kernels that have a source line, and the lines of kernels and their calls in the generated code.
"By frame" counts kernels for which torch has no line; they get the line of their frame. `python -m tests.stages.stage_links` writes
this page.

The last column is what the provenance view of tlparse {version} links in the same trace: calls of kernels that lead to a node, of all that
the trace has. That view needs a trace with `INDUCTOR_PROVENANCE=1`. It keeps one direction of each frame, and the node mapping that torch
writes for a backward graph is empty.

| trace | torch | kernels | with a line | by frame | generated lines | linked | tlparse |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Share:
    """The figures of one trace."""

    name: str
    torch: str
    kernels: int
    linked: int
    by_frame: int
    lines: int
    linked_lines: int
    tlparse: int | None

    @property
    def row(self) -> str:
        linked = f"{100 * self.linked / self.kernels:.1f}%"
        lines = f"{100 * self.linked_lines / self.lines:.1f}%"
        beside = "" if self.tlparse is None else f"{100 * self.tlparse / self.kernels:.1f}%"
        cells = (self.name, self.torch, self.kernels, linked, self.by_frame, self.lines, lines, beside)
        return f"| {' | '.join(map(str, cells))} |"


def recorded_traces(folder: Path) -> Iterator[tuple[str, Path]]:
    """The traces of tests/data, unpacked into ``folder``, by name."""
    for packed in sorted(DATA.glob("*/*trace*.log.gz")):
        file = folder / packed.parent.name / packed.stem
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(gzip.decompress(packed.read_bytes()))
        yield f"{packed.parent.name}, {_short(packed.stem)}", file
    for archive in sorted(DATA.glob("*/*.tar.xz")):
        with tarfile.open(archive) as opened:
            if not any(name.endswith(".log") for name in opened.getnames()):
                continue
            opened.extractall(folder / archive.parent.name, filter="data")
    for file in sorted(folder.glob("*/*/*.log")):
        yield f"{file.parent.name}, {_short(file.stem)}", file


def _short(stem: str) -> str:
    name = stem.removeprefix("dedicated_log_torch_trace_").removesuffix(".log")
    return re.sub(r"_?[a-z0-9_]{8}$", "", name) or "alone" if not name.startswith("block") else name


def share_of(name: str, trace: Path, tlparse: str | None) -> Share | None:
    """The figures of one trace; None if it has no kernel."""
    opened = read_stages(trace)
    kernels = [kernel for graph in opened.graphs for kernel in graph.kernels]
    if not kernels:
        return None
    lines = linked_lines = 0
    for graph in opened.graphs:
        code = graph.stage(StageKind.OUTPUT_CODE)
        if code is None:
            continue
        own = {line for kernel in graph.kernels for part in kernel.lines for line in range(part.first, part.last + 1)}
        lines += len(own)
        linked_lines += len(own & opened.links_of(code).sources.keys())
    return Share(
        name,
        opened.torch.partition("+")[0],
        len(kernels),
        sum(bool(kernel.sources) for kernel in kernels),
        sum(kernel.is_by_frame for kernel in kernels),
        lines,
        linked_lines,
        _linked_by_tlparse(trace, tlparse) if tlparse is not None else None,
    )


def _linked_by_tlparse(trace: Path, tlparse: str) -> int:
    """The lines of generated code that tlparse links: one for each call of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        command = [tlparse, "--inductor-provenance", str(trace), "-o", folder, "--overwrite", "--no-browser"]
        subprocess.run(command, check=True, capture_output=True)
        found = 0
        for page in Path(folder).glob("provenance_tracking_*.html"):
            if mappings := MAPPINGS.search(page.read_text()):
                table = json.loads(mappings[1])
                found += len(table.get("pyCodeToPost") or table.get("cppCodeToPost") or {})
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tlparse", help="the program to compare with")
    chosen = parser.parse_args()
    version = ""
    if chosen.tlparse:
        told = subprocess.run([chosen.tlparse, "--version"], check=True, capture_output=True, text=True).stdout
        version = told.split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        shares = [share_of(name, trace, chosen.tlparse) for name, trace in recorded_traces(Path(folder))]
    rows = [share for share in shares if share is not None]
    total = sum(share.kernels for share in rows)
    linked = sum(share.linked for share in rows)
    by_frame = sum(share.by_frame for share in rows)
    share = f"{linked} of {total} kernels have a source line ({100 * linked / total:.1f}%)"
    end = f"\n{share}, {by_frame} of them by their frame. The goal is 98%.\n"
    PAGE.write_text(HEAD.format(version=version) + "".join(f"{share.row}\n" for share in rows) + end)


if __name__ == "__main__":
    main()
