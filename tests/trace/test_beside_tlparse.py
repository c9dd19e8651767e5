"""What tlparse lists for a trace is in our report, and the breaks that it leaves out are there, too."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from compile_lens.trace.builder import read_report
from compile_lens.trace.report import CompileReport

DATA = Path(__file__).parent.parent / "data"
TLPARSE = shutil.which("tlparse", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
# `[0/0_1]` is the second attempt of `[0/0]`
COMPILE_ID = re.compile(r"^\[(?P<id>[^\]_]+)(?:_(?P<attempt>\d+))?\]$")
# tlparse numbers what it lists, and names output code after its hash
LISTED = re.compile(r"^(?P<name>.+?)(?:_c[a-z2-7]{51})?_\d+\.\w+$")
METRICS = ("compilation_metrics", "bwd_compilation_metrics")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(TLPARSE is None, reason="tlparse is not installed (dependency group dev)"),
]


@pytest.fixture(params=["h200-single", "h200-ddp", "rank_branch", "uneven_batches", "collectives", "caches", "shapes"])
def trace(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A recorded trace as torch wrote it; of a job, that of its last rank."""
    name = str(request.param)
    folder = DATA / name
    if folder.is_dir():
        packed = sorted(folder.glob("*trace*.log.gz"))[-1]
        file = tmp_path / packed.stem
        file.write_bytes(gzip.decompress(packed.read_bytes()))
        return file
    (archive,) = DATA.glob(f"*/{name}.tar.xz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    return sorted(tmp_path.rglob("*.log"))[-1]


def parsed(trace: Path, out: Path) -> tuple[Counter[tuple[str, int, str]], list[dict[str, Any]]]:
    """What tlparse lists, by compile id, attempt and name; and its metrics."""
    assert TLPARSE is not None
    subprocess.run(
        [TLPARSE, str(trace), "-o", str(out), "--overwrite", "--no-browser"], check=True, capture_output=True
    )
    listed: Counter[tuple[str, int, str]] = Counter()
    for key, entry in json.loads((out / "compile_directory.json").read_text()).items():
        found = COMPILE_ID.match(key)
        for artifact in entry["artifacts"]:
            name = LISTED.match(artifact["name"])
            if found is not None and name is not None and found["id"] != "-/-":
                listed[found["id"], int(found["attempt"] or 0), name["name"]] += 1
    lines = (out / "raw.jsonl").read_text().splitlines()
    return listed, [line for line in map(json.loads, lines) if "compilation_metrics" in line]


def ours(report: CompileReport) -> Counter[tuple[str, int, str]]:
    found = Counter((a.compile_id or "", a.attempt, a.name) for a in report.artifacts)
    return Counter({key: number for key, number in found.items() if key[0]})


def test_what_tlparse_lists_is_in_the_report(trace: Path, tmp_path: Path) -> None:
    listed, metrics = parsed(trace, tmp_path / "tl_out")
    report = read_report(trace)
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    assert {compile_id for compile_id, _, _ in listed} <= compilations.keys()
    artifacts = {key: number for key, number in listed.items() if key[2] not in METRICS}
    known = ours(report)
    assert {key: number for key, number in artifacts.items() if known[key] < number} == {}
    for line in metrics:
        compilation = compilations[f"{line['frame_id']}/{line['frame_compile_id']}"]
        told = line["compilation_metrics"]
        assert compilation.seconds == pytest.approx(told.get("entire_frame_compile_time_s") or 0.0)
        assert compilation.ops == told.get("graph_op_count")
        assert (compilation.failure is not None) == bool(told.get("fail_type"))


def test_every_break_is_in_the_report(trace: Path) -> None:
    """tlparse shows those of restarts; torch writes a record for each."""
    written = trace.read_bytes().count(b'"name": "dynamo_graph_break_reason"')
    report = read_report(trace)
    forerunners = written - len(report.breaks)
    # one that only announces another break, or the failure of its frame, is not told twice
    assert (
        0 <= forerunners <= sum(1 for compilation in report.compilations if compilation.breaks or compilation.failure)
    )
