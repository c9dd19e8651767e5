"""Models of ``transformers``, tiny and with random weights: analyzed without an error of ours, shown at the user's line.

The scripts are what somebody would write who tries ``torch.compile`` on a model of a library: all of the model is installed code,
so whatever breaks in it has to stand at the call in the script, with the library's line as a related place. Only configurations are
used; nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from benchmarks.model_scripts import MODELS, Model, script_of
from benchmarks.plain_torch.process import PlainTorch, recompiles_of

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Status
from plain_torch_process import breaks_of
from warm_host import WarmHost

pytestmark = [
    pytest.mark.models,
    # not imported here: each worker would, when it collects the tests
    pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="runs models of transformers"),
]

# another model with experts breaks in the same way; the others compile as Llama does when it generates
NIGHTLY = {"mixtral", "t5", "whisper", "llama", "gemma2", "bert", "vit", "gpt2"}


@pytest.mark.parametrize(
    "model",
    [pytest.param(m, id=m.name, marks=[pytest.mark.nightly] if m.name in NIGHTLY else []) for m in MODELS],
)
def test_model(model: Model, tmp_path: Path, warm_host: WarmHost, plain_torch: PlainTorch) -> None:
    script = tmp_path / f"{model.name}.py"
    # one layer: torch traces each further one in the same way
    text = script_of(model).replace("num_hidden_layers=2", "num_hidden_layers=1")
    script.write_text(text, encoding="utf-8")
    call_line = len(text.splitlines())
    ours, torchs = warm_host.analyze(script), plain_torch.run(script)
    outcome = ours.outcome
    kinds = {finding.kind for finding in outcome.findings}
    if model.fails:
        assert outcome.status is Status.RAISED
        assert kinds == {Kind.COMPILE_ERROR}
    else:
        assert outcome.status is Status.OK, outcome.failure or outcome.output
        assert outcome.graphs > 0
        assert kinds <= {Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT}
    for finding in outcome.findings:
        place = finding.place
        assert (place.file, place.line, place.column) == (str(script), call_line, 9)
        assert place.end_column == 9 + len(model.call)
        if finding.kind is Kind.GRAPH_BREAK:
            assert finding.related, f"{finding.message} has no line of the library"
            assert "transformers" in finding.related[0].place.file or "torch" in finding.related[0].place.file
    assert (Kind.GRAPH_BREAK in kinds) == model.breaks
    assert breaks_of(ours) == torchs.breaks
    assert recompiles_of(ours.report) == torchs.recompiles
