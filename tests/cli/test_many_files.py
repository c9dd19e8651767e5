"""``check`` over many files: at once, in order, one failing alone; and on a Ray cluster that loses a node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.command import Result, Warm
from tests.own_environment import python_with
from tests.processes import Mark

PROGRAM = """\
import torch


@torch.compile(backend="eager")
def f{number}(x):
    {line}
    return x + {number}


f{number}(torch.ones(3))
{more}
"""
BAD = {
    7: "import torch\n\n\n@torch.compile\ndef f(:\n",
    11: "import os\n\nimport torch\n\ntorch.compile(lambda x: x)\nos.abort()\n",
}


def write_zoo(folder: Path, number: int) -> None:
    for index in range(number):
        line = "print(x)" if index % 4 == 0 else "x = x * 2"
        more = f"f{index}(torch.ones(4))" if index % 3 == 0 else ""
        text = BAD.get(index, PROGRAM.format(number=index, line=line, more=more))
        (folder / f"m{index:02}.py").write_text(text)


def told(out: str) -> list[dict[str, Any]]:
    """The runs of a report without their times."""
    runs: list[dict[str, Any]] = json.loads(out)["runs"]
    for run in runs:
        run.pop("duration_s")
        for finding in run["findings"]:
            finding.pop("cost")
    return runs


@pytest.mark.slow
@pytest.mark.usefixtures("warm_command")
def test_files_at_once_are_told_in_their_order_and_a_bad_one_costs_itself(tmp_path: Path) -> None:
    write_zoo(tmp_path, 12)
    files = ["m00.py", "m11.py", "m02.py", "m03.py"]
    (tmp_path / "m02.py").unlink()
    one, three = (Warm(["check", "-j", jobs, "--format", "json", *files], tmp_path) for jobs in ("1", "3"))
    assert told(one.out) == told(three.out)
    assert (one.code, one.err) == (three.code, three.err)
    runs = three.runs
    assert [Path(run["file"]).name for run in runs] == files
    assert [number for number, run in enumerate(runs) if run["status"] == "failed"] == [2]
    assert (runs[1]["status"], runs[3]["status"]) == ("killed", "ok")


@pytest.mark.usefixtures("warm_command")
def test_an_executor_that_there_is_not_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.py").touch()
    other = Warm(["check", "--executor", "spark", "m.py"], tmp_path)
    assert (other.code, "'spark' is not ray or ray=ADDRESS." in other.err) == (2, True)
    monkeypatch.setitem(sys.modules, "ray", None)
    missing = Warm(["check", "--executor", "ray", "m.py"], tmp_path)
    assert (missing.code, missing.err) == (2, "compile-lens: Ray is not installed: pip install 'compile-lens[ray]'.\n")


# two nodes of one processor each; the second is killed when a quarter of the files is done, in the midst of another
CLUSTER = """\
import subprocess
import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
lost = cluster.add_node(num_cpus=1)
command = [sys.executable, "-m", "compile_lens", "check", f"--executor=ray={cluster.address}", *sys.argv[1:]]
check = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
done = 0
for line in check.stdout:
    print(line, end="", flush=True)
    done += line.startswith("m") and " region" in line
    if done == 10 and lost is not None:
        cluster.remove_node(lost, allow_graceful=False)
        lost = None
code = check.wait()
cluster.shutdown()
print("LOST A NODE" if lost is None else "LOST NOTHING")
sys.exit(code)
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="ray.cluster_utils is tried on Linux")
def test_a_cluster_that_loses_a_node_tells_what_this_machine_tells(tmp_path: Path) -> None:
    write_zoo(tmp_path, 40)
    arguments = ["--python", sys.executable, "--save", "cluster.clens", "."]
    # sockets of Ray have long names in here
    folder = tempfile.mkdtemp(prefix="r", dir="/tmp")
    mark = Mark()
    try:
        done = subprocess.run(
            [python_with("ray"), "-c", CLUSTER, *arguments],
            cwd=tmp_path,
            env={**mark.environment, "RAY_TMPDIR": folder, "HOME": folder, "RAY_USAGE_STATS_ENABLED": "0"},
            capture_output=True,
            text=True,
            timeout=900,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert "LOST A NODE" in done.stdout, done.stdout + done.stderr
    assert mark.none_left()
    local = Result(["check", "-j", "2", "--format", "json", "--python", sys.executable, "."], tmp_path)
    cluster = Result(["trace", "--format", "json", "cluster.clens"], tmp_path)
    assert told(cluster.out) == told(local.out)
    assert done.returncode == local.code == 1
    assert len(local.runs) == 40
