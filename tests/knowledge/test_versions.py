"""In which release a name came and went: facts that were looked up by hand in the releases themselves."""

from __future__ import annotations

import pytest

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.versions import history, order


def test_releases_in_their_order() -> None:
    releases = history().releases
    assert list(releases) == sorted(releases, key=order)
    assert {"2.6", "2.8", "2.11", "2.13"} <= set(releases)


@pytest.mark.parametrize(
    ("kind", "name", "note"),
    [
        (KnowledgeKind.LOG, "graph_breaks", ""),
        (KnowledgeKind.ARGUMENT, "fullgraph", ""),
        (KnowledgeKind.ARGUMENT, "recompile_limit", "added in torch 2.12"),
        (KnowledgeKind.CODE, "GB0059", "added in torch 2.8"),
        (KnowledgeKind.OPERATOR, "aten.add", ""),
        (KnowledgeKind.OPERATOR, "aten._grouped_mm", "added in torch 2.8"),
        (
            KnowledgeKind.OPERATOR,
            "aten._fused_rms_norm",
            "added in torch 2.8, schema of `default` changed in torch 2.9",
        ),
        (
            KnowledgeKind.OPERATOR,
            "aten._fused_rms_norm.default",
            "added in torch 2.8, schema of `default` changed in torch 2.9",
        ),
        (KnowledgeKind.OPERATOR, "aten.align_to", "removed in torch 2.13"),
        # TorchScript had it long before it was declared beside the others
        (KnowledgeKind.OPERATOR, "aten.numel", ""),
    ],
)
def test_a_note(kind: KnowledgeKind, name: str, note: str) -> None:
    assert history().note(kind, name) == note


def test_an_unknown_name_of_another_release_says_so(bundled: Knowledge) -> None:
    past = bundled.past
    for kind in (KnowledgeKind.LOG, KnowledgeKind.OPTION, KnowledgeKind.ENVIRONMENT):
        later = [name for name in past.known_elsewhere(kind) if past.seen(kind, name) == (past.releases[-1],)]
        for name in later:
            reason = past.why_unknown(kind, name, "2.13.0")
            assert reason == f"it was added in torch {past.releases[-1]}"


def test_the_names_of_a_release_are_those_of_its_table(bundled: Knowledge) -> None:
    release = ".".join(map(str, order(bundled.tables.torch)))
    past = bundled.past
    for kind in (
        KnowledgeKind.LOG,
        KnowledgeKind.ARGUMENT,
        KnowledgeKind.MODE,
        KnowledgeKind.CODE,
        KnowledgeKind.IR,
        KnowledgeKind.OPS,
    ):
        listed = {name for name in past.known_elsewhere(kind) if release in past.seen(kind, name)}
        assert listed == set(bundled.tables.table(kind)), kind


def test_the_declared_operators_of_a_release_are_in_its_table(bundled: Knowledge) -> None:
    """What ``native_functions.yaml`` of torch 2.13 declares, against the operators that the running torch 2.13 has."""
    past, table = bundled.past, bundled.tables.table(KnowledgeKind.OPERATOR)
    listed = {name for name in past.known_elsewhere(KnowledgeKind.OPERATOR) if name.count(".") == 1}
    here = {name for name in listed if "2.13" in past.seen(KnowledgeKind.OPERATOR, name)}
    running = {name for name in table if name.startswith("aten.")}
    assert len(here) > 1500
    # some have no kernel in a build for the CPU
    assert len(here - running) < 0.1 * len(here)
    assert not (listed - here) & running


def test_an_operator_that_is_gone_says_when(bundled: Knowledge) -> None:
    assert bundled.why_unknown("aten.align_to") == "it was removed in torch 2.13"
