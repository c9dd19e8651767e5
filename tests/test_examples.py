"""The example programs show what their own header says, at the expression that a reader would point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Status
from compile_lens.syntax.tree import parse
from warm_host import WarmHost, one_worker_each

EXAMPLES = Path(__file__).parent.parent / "examples"

# (code, the text of the range, how often)
EXPECTED = {
    "clean_model": set(),
    "training_step": {
        ("recompile", "tokens", 1),
        ("recompile", "scale", 1),
        ("recompile", "labels", 1),
        ("recompile", "scaled_loss", 1),
    },
    "transformer_block": {
        ("GB0170", "x.abs().max() > OVERFLOW_LIMIT", 3),
        ("GB0124", "hidden.norm().item()", 1),
        ("GB0059", 'print(f"norm of the hidden state: {norm:.2f}")', 1),
        ("GB0021", 'f"norm of the hidden state: {norm:.2f}"', 1),
        ("recompile", "hidden.norm().item()", 1),
        ("small-graphs", "torch.compile(Decoder().eval())", 1),
    },
}


@pytest.mark.parametrize("file", one_worker_each(EXAMPLES / f"{name}.py" for name in sorted(EXPECTED)))
def test_example(file: Path, warm_host: WarmHost) -> None:
    outcome = warm_host.analyze(file).outcome
    assert outcome.status is Status.OK
    tree = parse(file.read_text(encoding="utf-8"))
    found = set()
    for finding in outcome.findings:
        place = finding.place
        assert place.file == str(file)
        start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
        found.add((finding.code, tree.source[start:end].decode(), finding.count))
    assert found == EXPECTED[file.stem]
    assert [region.graphs > 0 for region in outcome.regions] == [True]


def test_every_example_is_expected_to_show_something() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_examples_fit_a_screenshot(name: str) -> None:
    assert max(len(line) for line in (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 90
