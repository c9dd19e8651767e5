"""The page of stages: its script is that of the sources, its policy allows this script alone, and a program's text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compile_lens.formats.stages_page import StagesPage, script, to_html
from compile_lens.knowledge.devices import find_device
from compile_lens.stages.gpu_preview import Certainty, GpuKernel, GpuPreview, LaunchConfiguration
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.stages.timeline import read_timeline
from compile_lens.trace.files import trace_files
from compile_lens.trace.records import opened

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "vscode-client"
SOURCES = CLIENT / "src" / "webview" / "stages"
SINGLE = ROOT / "tests" / "data" / "h200-single"
PROGRAM = "/cluster/job/gpu_single.py"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m"
KERNEL = "triton_per_fused_native_layer_norm_0"
PREVIEW = GpuPreview(
    "H100",
    "NVIDIA H100",
    "sm_90",
    "2.11.0",
    "3.6.0",
    "3.6.0",
    False,
    (
        GpuKernel(
            KERNEL,
            "1/0",
            Certainty.ONE_OF,
            "torch measures them." + HOSTILE,
            (LaunchConfiguration({"XBLOCK": 1}, 2, 1, 24, 2000, 0), LaunchConfiguration({"XBLOCK": 8}, 2, 1)),
        ),
    ),
)


@cache
def single() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


def given(**changes: Any) -> StagesPage:
    stages = single()
    page = StagesPage(title="gpu_single.py", stages=stages, lines_of=lambda _: None, graphs=stages.graphs[:2])
    return replace(page, **changes)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_script_is_that_of_the_sources() -> None:
    """It is kept in the repository, so that a wheel is built without Node: `npm run build` in vscode-client renews it."""
    version = json.loads((CLIENT / "package-lock.json").read_text())["packages"]["node_modules/@dagrejs/dagre"][
        "version"
    ]
    digest = hashlib.sha256()
    for file in sorted(SOURCES.iterdir()):
        digest.update(file.read_bytes())
    digest.update(version.encode())
    assert digest.hexdigest() in script().partition("\n")[0], "run `npm run build` in vscode-client"


def test_the_policy_allows_this_script_alone() -> None:
    page = to_html(given())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    run = page.rpartition("<script>")[2].partition("</script>")[0]
    # a browser that reads the file makes each line end a newline
    allowed = base64.b64encode(hashlib.sha256(run.encode()).digest()).decode()
    assert policy[1].startswith(f"default-src 'none'; script-src 'sha256-{allowed}'; ")
    assert "\r" not in run
    assert "</script" not in run.lower()
    assert "<!--" not in run


def test_nothing_of_a_program_is_markup() -> None:
    page = to_html(
        given(
            title=HOSTILE, notes=[HOSTILE], lines_of=lambda _: [HOSTILE] * 80, stages=replace(single(), preview=PREVIEW)
        )
    )
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    data = data_of(page)
    assert data["files"][0]["lines"][0][1] == "</script><script>alert(1)</script><img src=x onerror=alert(1)>\\u202e"
    assert re.findall(r"https?://(?!www\.w3\.org/)[\w.]+", script()) == []


def test_every_kernel_and_every_link_is_there() -> None:
    data = data_of(to_html(given(device=find_device("h200"))))
    for shown, graph in zip(data["graphs"], single().graphs, strict=False):
        assert [kernel["call"] for kernel in shown["kernels"]] == [kernel.call for kernel in graph.kernels]
        assert [group["call"] for group in shown["picture"]["groups"]] == [kernel.call for kernel in graph.kernels]
        for kernel, row in zip(graph.kernels, shown["kernels"], strict=True):
            places = [data["places"][index] for index in row["places"]]
            assert [(data["files"][one["file"]]["name"], one["line"]) for one in places] == [
                (span.file, span.line) for span in kernel.sources
            ]
        code = next(stage for stage in shown["stages"] if stage["id"].endswith("/output_code"))
        stage = single().stage(code["id"])
        assert stage is not None
        links = single().links_of(stage)
        assert {int(line) for line in code["links"]} == set(links.sources)


def test_each_kernel_of_a_preview_says_how_certain_it_is() -> None:
    data = data_of(to_html(given(stages=replace(single(), preview=PREVIEW))))
    (kernel,) = {row["certainty"]: row for row in data["graphs"][0]["kernels"] if row["certainty"]}.values()
    assert kernel["name"] == KERNEL and kernel["certainty"] == "one of 2" and kernel["why"].startswith("torch measures")
    assert kernel["configurations"] == [
        ["XBLOCK=1, num_warps=2, num_stages=1", "24", "2 kB", "0"],
        ["XBLOCK=8, num_warps=2, num_stages=1", "", "", ""],
    ]


def test_the_passes_have_their_times_and_lead_to_what_they_changed() -> None:
    (graph, *_) = data_of(to_html(given()))["graphs"]
    rows = {row["name"]: row for row in graph["passes"]}
    changed = rows["post_grad passes"]
    assert changed["seconds"] == "62.3 ms" and changed["changes"] == "1 node removed, 2 added, 1 changed"
    document = graph["stages"][changed["stage"]]
    assert document["kind"] == "pass" and document["id"] == "1_0/forward/pass/post_grad"
    assert rows["stable_sort"] == {**rows["stable_sort"], "depth": 1, "changes": "", "stage": -1, "is_changed": False}
    assert [stage["kind"] for stage in graph["stages"]].index("pass") == len(graph["stages"]) - 1


def test_source_that_is_not_here_is_what_the_graphs_quote() -> None:
    files = {file["name"]: dict(file["lines"]) for file in data_of(to_html(given()))["files"]}
    assert files[PROGRAM][32].strip().startswith("x")
    assert max(files[PROGRAM]) < 200


def test_a_long_file_is_shown_around_what_comes_from_it() -> None:
    data = data_of(to_html(given(lines_of=lambda _: [f"line {number}" for number in range(1, 5001)])))
    lines = next(file["lines"] for file in data["files"] if file["name"] == PROGRAM)
    assert 50 < len(lines) < 500
    assert all(text == f"line {number}" for number, text in lines)


@pytest.mark.parametrize("whole", [False, True])
def test_a_page_is_little_more_than_its_text(whole: bool) -> None:
    (trace,) = trace_files(SINGLE)
    graphs = single().graphs if whole else single().graphs[:1]
    page = to_html(given(graphs=graphs, timeline=read_timeline(opened(trace))))
    text = sum(len(stage.text.encode()) for graph in graphs for stage in graph.documents)
    assert len(page.encode()) < text + 3_000_000


def test_the_timeline_has_a_row_for_each_stretch_of_a_frame() -> None:
    (trace,) = trace_files(SINGLE)
    timeline = read_timeline(opened(trace))
    shown = data_of(to_html(given(timeline=timeline)))["timeline"]
    assert sum(row["seconds"] for row in shown["rows"]) == pytest.approx(timeline.total, rel=0.01)
    assert shown["caches"] == ["AOTAutograd cache: 11 misses, 4 hits", "FX graph cache: 17 misses"]
