"""The page of ``stages --html`` in a real browser: views follow each other, by pointer and by keyboard, in light and dark."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from workbench import HERE, Lab

from compile_lens.formats.stages_page import StagesPage, to_html
from compile_lens.knowledge.devices import find_device
from compile_lens.stages.opened import OpenedStages, read_stages
from compile_lens.stages.timeline import read_timeline
from compile_lens.trace.files import trace_files
from compile_lens.trace.records import opened

pytestmark = pytest.mark.e2e

SINGLE = HERE.parent / "data" / "h200-single"
HOSTILE = '<img src="https://example.org/x.png" onerror="alert(1)"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def stages() -> OpenedStages:
    (trace,) = trace_files(SINGLE)
    return read_stages(trace)


@pytest.fixture
def told(lab: Lab, stages: OpenedStages, tmp_path: Path, shots: Path) -> dict[str, Any]:
    (trace,) = trace_files(SINGLE)
    page = StagesPage(
        title=f"gpu_single.py {HOSTILE}",
        stages=stages,
        lines_of=lambda _: [f"line {number} {HOSTILE if number == 5 else ''}" for number in range(1, 121)],
        graphs=stages.graphs,
        notes=["As for `H200`, torch 2.11.0."],
        device=find_device("h200"),
        timeline=read_timeline(opened(trace)),
    )
    (tmp_path / "page.html").write_text(to_html(page), encoding="utf-8")
    given = {"url": (tmp_path / "page.html").as_uri(), "shots": str(shots), "browser": lab.browser}
    done = subprocess.run(
        [lab.node, str(HERE / "scenarios" / "stages_page.mjs")],
        env={**os.environ, "PLAYWRIGHT": lab.playwright, "SCENARIO": json.dumps(given)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_views_follow_each_other_and_nothing_is_loaded(told: dict[str, Any], stages: OpenedStages) -> None:
    assert (told["messages"], told["dialogs"], told["images"]) == ([], 0, 0)
    # the page itself, once for each scheme, and the picture that is saved
    assert {url.partition(":")[0] for url in told["requests"]} <= {"file", "blob"}
    light, dark = told["schemes"]["light"], told["schemes"]["dark"]
    assert (light["background"], dark["background"]) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)")
    for scheme in (light, dark):
        assert HOSTILE in scheme["title"]
        assert not scheme["wider"]
        # a line of the source that was clicked, and the code of the kernels that come from it
        assert scheme["clicked"]["source"] == ["32"]
        assert scheme["clicked"]["code"] > 20
        assert scheme["clicked"]["inView"]
        # the same color on both sides
        assert scheme["clicked"]["colors"][0] == scheme["clicked"]["colors"][1]
        # the same by keyboard, then Escape
        assert scheme["keyboard"] == ["32"]
        assert (scheme["cleared"], scheme["within"]) == (0, 0)
    graph = stages.graph("1_0/forward")
    assert graph is not None
    assert light["boxes"] == len(graph.kernels)
    assert light["rows"] == len(graph.kernels)
    assert light["moved"] and light["zoomed"]
    # a click on a box chooses its lines
    assert light["ofBox"] == ["32"]
    # what the passes of a phase changed: in the place of the code, with the colors of the source
    assert light["ofPass"]["tab"] == "Post-grad passes: all changes"
    assert [line.split(":")[0].strip("+ ") for line in light["ofPass"]["added"]] == [
        "mm_default",
        "add_tensor",
        "view_5",
    ]
    assert light["ofPass"]["linked"] == 3
    assert light["ofPass"]["rows"] == 3 and light["ofPass"]["all"] == 24
    # the saved picture is the whole graph
    picture = ElementTree.fromstring(told["saved"]["text"])
    assert told["saved"]["name"] == "forward-1-0-forward.svg"
    titles = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "title"]
    assert titles == [kernel.name for kernel in graph.kernels]
