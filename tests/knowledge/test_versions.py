"""In which release a name came and went: facts that were looked up by hand in the releases themselves."""

from __future__ import annotations

import pytest

from compile_lens.knowledge.entry import Kind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.knowledge.versions import history, order


def test_releases_in_their_order() -> None:
    releases = history().releases
    assert list(releases) == sorted(releases, key=order)
    assert {"2.6", "2.8", "2.11", "2.13"} <= set(releases)


@pytest.mark.parametrize(
    ("kind", "name", "note"),
    [
        (Kind.LOG, "graph_breaks", ""),
        (Kind.ARGUMENT, "fullgraph", ""),
        (Kind.ARGUMENT, "recompile_limit", "added in torch 2.12"),
        (Kind.CODE, "GB0059", "added in torch 2.8"),
    ],
)
def test_a_note(kind: Kind, name: str, note: str) -> None:
    assert history().note(kind, name) == note


def test_an_unknown_name_of_another_release_says_so(bundled: Knowledge) -> None:
    past = bundled.past
    for kind in (Kind.LOG, Kind.OPTION, Kind.ENVIRONMENT):
        later = [name for name in past.known_elsewhere(kind) if past.seen(kind, name) == (past.releases[-1],)]
        for name in later:
            reason = past.why_unknown(kind, name, "2.13.0")
            assert reason == f"it was added in torch {past.releases[-1]}"


def test_the_names_of_a_release_are_those_of_its_table(bundled: Knowledge) -> None:
    release = ".".join(map(str, order(bundled.tables.torch)))
    past = bundled.past
    for kind in (Kind.LOG, Kind.ARGUMENT, Kind.MODE, Kind.CODE, Kind.IR, Kind.OPS):
        listed = {name for name in past.known_elsewhere(kind) if release in past.seen(kind, name)}
        assert listed == set(bundled.tables.table(kind)), kind
