"""The plain torch beside a test, and what the product found in the form of what that says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from benchmarks.plain_torch.process import Breaks, PlainTorch

from compile_lens.analysis.finding import Kind
from warm_host import Analyzed


def plain_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainTorch]:
    plain = PlainTorch(tmp_path_factory.mktemp("inductor"))
    yield plain
    plain.close()


def breaks_of(ours: Analyzed) -> Breaks:
    """The findings that are breaks, as shown to the user."""
    counted: Breaks = Counter()
    for finding in ours.outcome.findings:
        if finding.kind is Kind.GRAPH_BREAK:
            counted[finding.place.file, finding.place.line, finding.code] += finding.count
    return counted
