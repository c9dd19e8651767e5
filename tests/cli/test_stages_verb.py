"""``compile-lens stages`` and ``kernels``: a run, and what other runs left."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.command import Warm

from compile_lens.stages.model import StageKind

pytestmark = pytest.mark.usefixtures("warm_command")
DATA = Path(__file__).parent.parent / "data"
SINGLE = str(DATA / "h200-single")
PROGRAM = """\
import torch

@torch.compile
def weigh(x, w):
    y = torch.relu(x @ w)
    return torch.softmax(y, -1)

def main():
    x, w = (torch.randn(8, 8, requires_grad=True) for _ in range(2))
    weigh(x, w).sum().backward()

main()
"""
OWN_PASS = """
import torch._inductor.config

def swap(graph):
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default):
        node.args = node.args[::-1]

torch._inductor.config.post_grad_custom_post_pass = swap
"""


@pytest.mark.slow
def test_a_run_has_the_kernels_of_each_line_in_both_directions(tmp_path: Path) -> None:
    (tmp_path / "weigh.py").write_text(PROGRAM)
    done = Warm(["kernels", "--json", "weigh.py"], tmp_path)
    assert done.code == 0, done.err
    (run,) = json.loads(done.out)["runs"]
    graphs = {graph["direction"]: graph["kernels"] for graph in run["graphs"]}
    for direction in ("forward", "backward"):
        lines = {source["line"] for kernel in graphs[direction] for source in kernel["sources"]}
        assert lines == {5, 6}
        for kernel in graphs[direction]:
            assert kernel["nodes"] and not kernel["by_frame"], kernel
            assert kernel["bytes_read"] and kernel["bytes_written"] and kernel["bytes_avoided"] is not None
    (product,) = (kernel for kernel in graphs["forward"] if kernel["kind"] == "extern")
    assert product["operators"] == ["aten.mm"] and product["bytes_read"] == 2 * 8 * 8 * 4
    # columns are those of the source, not of a traceback, which leaves out the indentation
    (source,) = product["sources"]
    line = PROGRAM.split("\n")[source["line"] - 1]
    if source["column"] is not None:
        assert line[source["column"] - 1 :].startswith("x @ w")


def test_the_stages_of_a_trace(tmp_path: Path) -> None:
    listed = Warm(["stages", SINGLE], tmp_path)
    assert listed.code == 0 and "backward graph" in listed.out and "/cluster/job/gpu_single.py:30" in listed.out
    code = Warm(["stages", "--region", "1_0/forward", "--stage", "output_code", SINGLE], tmp_path)
    assert code.code == 0 and code.out.startswith("# 1_0/forward/output_code\n# AOT ID: ['0_forward']\n")
    kinds = {stage.value for stage in StageKind}
    (run,) = json.loads(Warm(["stages", "--json", SINGLE], tmp_path).out)["runs"]
    assert all(stage["kind"] in kinds and "text" not in stage for graph in run["graphs"] for stage in graph["stages"])


@pytest.mark.slow
def test_a_run_has_what_each_pass_changed(tmp_path: Path) -> None:
    """And the program's own pass is one of them."""
    (tmp_path / "weigh.py").write_text(
        PROGRAM.replace("torch.relu(x @ w)", "torch.relu(x @ w).clone()").replace("\n", OWN_PASS, 1)
    )
    done = Warm(["stages", "--json", "--stage", "pass", "weigh.py"], tmp_path)
    assert done.code == 0, done.err
    (run,) = json.loads(done.out)["runs"]
    assert not run["notes"], run["notes"]
    graphs = {graph["direction"]: {phase["phase"]: phase for phase in graph["phases"]} for graph in run["graphs"]}
    assert list(graphs["forward"]) == ["pre_grad", "joint", "post_grad"] and list(graphs["backward"]) == ["post_grad"]
    joint = {one["name"]: one for one in graphs["forward"]["joint"]["passes"]}
    assert joint["remove_noop_ops"]["nodes"]["removed"] and "-" in joint["remove_noop_ops"]["diff"]
    for phases in graphs.values():
        changed = [one for one in phases["post_grad"]["passes"] if one["changed"]]
        assert [one["name"] for one in changed] == ["post_grad_custom_post_pass"]
        assert changed[0]["nodes"]["changed"] and not changed[0]["nodes"]["added"]
    times = next(graph["seconds"] for graph in run["graphs"] if graph["direction"] == "forward")
    assert times["_recursive_joint_graph_passes"] > 0


def test_a_pass_of_a_trace(tmp_path: Path) -> None:
    listed = Warm(["stages", SINGLE, "--region", "1_0/forward", "-v"], tmp_path)
    assert re.search(r"post_grad passes +62.3 ms +1 node removed, 2 added, 1 changed\n", listed.out)
    assert re.search(r"\n  stable_sort +[\d.]+ .s", listed.out)
    diff = Warm(["stages", SINGLE, "--region", "1_0", "--pass", "post_grad"], tmp_path)
    assert diff.code == 0 and diff.out.count("/pass/post_grad\n@@ -") == 2 and "\n+        mm_default" in diff.out
    same = Warm(["stages", SINGLE, "--region", "1_0", "--pass", "pre_grad"], tmp_path)
    assert same.code == 1 and "pre_grad passes changed nothing in 1_0/forward." in same.err
    unknown = Warm(["stages", SINGLE, "--region", "1_0", "--pass", "stable_sort"], tmp_path)
    assert unknown.code == 1 and "the trace does not have the graph before and after it." in unknown.err
    absent = Warm(["stages", SINGLE, "--region", "1_0", "--pass", "nothing"], tmp_path)
    assert absent.code == 2 and "There is no pass nothing. These changed a graph: post_grad." in absent.err


def test_the_kernels_of_a_line_of_a_trace(tmp_path: Path) -> None:
    done = Warm(["kernels", "--line", "18", "--region", "1/0", SINGLE], tmp_path)
    assert done.code == 0
    assert done.out.count("_scaled_dot_product_efficient_attention") == 4
    none = Warm(["kernels", "--line", "1", SINGLE], tmp_path)
    assert none.code == 1 and "No kernel computes anything from line 1." in none.err


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    unknown = Warm(["kernels", "--region", "nothing", SINGLE], tmp_path)
    assert unknown.code == 2 and "has no graph of nothing. It has graphs of forward" in unknown.err
    stage = Warm(["stages", "--stage", "ptx", SINGLE], tmp_path)
    assert stage.code == 1 and "No graph has the stage ptx." in stage.err
    assert Warm(["stages", str(tmp_path)], tmp_path).code == 2


def test_a_debug_folder_opens(tmp_path: Path) -> None:
    """As torch lays it out; its files are documents of the recorded trace."""
    folder = tmp_path / "torch_compile_debug" / "run_1" / "torchinductor" / "model__0_forward_1.0"
    folder.mkdir(parents=True)
    files = {"fx_graph_transformed.py": "post_grad", "output_code.py": "output_code"}
    for name, stage in files.items():
        done = Warm(["stages", "--region", "1_0/forward", "--stage", stage, "--json", SINGLE], tmp_path)
        (run,) = json.loads(done.out)["runs"]
        (folder / name).write_text(run["graphs"][0]["stages"][0]["text"])
    done = Warm(["kernels", "--json", "torch_compile_debug"], tmp_path)
    (graph,) = json.loads(done.out)["runs"][0]["graphs"]
    assert graph["direction"] == "forward" and len(graph["kernels"]) == 6
    assert {source["line"] for kernel in graph["kernels"] for source in kernel["sources"]} >= {17, 18, 19, 32, 33}
