"""Graph breaks in the user's words, and whether a setting helps: as recorded runs of the fixtures have them."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path

from compile_lens.analysis.break_titles import NAMED, TITLES
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.graph_breaks import Remedy
from replay import recording, replay

TORCH = importlib.util.find_spec("torch")
assert TORCH is not None and TORCH.origin is not None
REGISTRY = json.loads((Path(TORCH.origin).parent / "_dynamo" / "graph_break_registry.json").read_text())


@cache
def breaks() -> dict[str, Finding]:
    """The first break of each code in the recordings."""
    found: dict[str, Finding] = {}
    for name in sorted(file.removesuffix(".wire") for file in recording("fixtures") if file.endswith(".wire")):
        for finding in replay("fixtures", name).findings:
            if finding.kind is Kind.GRAPH_BREAK:
                found.setdefault(finding.code, finding)
    return found


def test_every_code_with_words_is_one_of_torchs() -> None:
    assert set(TITLES) <= set(REGISTRY)
    assert set(NAMED) <= set(TITLES)
    assert len(TITLES) >= 45


def test_the_words_of_real_breaks() -> None:
    titles = {code: finding.message for code, finding in breaks().items()}
    assert titles["GB0170"] == "Graph break: this line branches on a tensor's value; no setting avoids it."
    assert titles["GB0059"] == "Graph break: `print` cannot be traced with these arguments."
    assert titles["GB0156"] == "Graph break: Dynamo cannot trace the method `rand` of `RandomState`."
    assert titles["GB0158"] == "Graph break: torch has no equivalent of `ndarray.tobytes`."
    assert titles["GB0036"].startswith(
        "Graph break: the output shape of `aten.nonzero.default` depends on tensor values"
    )
    assert titles["GB0082"].endswith("(`GET_AWAITABLE`); `f` falls back to eager.")


def test_torchs_own_title_stays_beside_them() -> None:
    for code, finding in breaks().items():
        if code in TITLES:
            title = REGISTRY[code][0]["Gb_type"].split("{")[0].strip().rstrip(".:")
            assert finding.explanation.startswith(title[:20]), code


def test_a_setting_is_told_from_what_is_fundamental() -> None:
    remedies = {code: finding.remedy for code, finding in breaks().items()}
    assert remedies["GB0124"] == remedies["GB0036"] == Remedy.SETTING.value
    assert remedies["GB0170"] == Remedy.FUNDAMENTAL.value
    assert any("capture_scalar_outputs" in hint for hint in breaks()["GB0124"].hints)
    assert "a setting lets Dynamo trace it" in breaks()["GB0124"].message
