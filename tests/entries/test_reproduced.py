"""No wrong finding: what a run with made-up inputs finds, a script of plain torch with the same inputs finds, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.plain_script import plain_script

from compile_lens.session.entry_choice import choose
from plain_torch_process import PlainTorch, breaks_of, recompiles_of
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

OWN = Path(__file__).parent.parent.parent / "benchmarks" / "entry_corpus" / "own"
# files that nobody arranged, and that break or recompile when they are run with made-up inputs
FILES = ("diffusion_step", "moe_layer", "needs_a_checkpoint", "seq2seq_rnn", "graph_layer")


@pytest.mark.parametrize("name", FILES)
def test_findings_of_made_up_inputs_are_those_of_a_plain_script(
    name: str, tmp_path: Path, warm_host: WarmHost, plain_torch: PlainTorch
) -> None:
    file = OWN / f"{name}.py"
    choice = choose(str(file), file.read_text(encoding="utf-8"), None)
    ours = warm_host.analyse_choice(str(file), choice)
    assert ours.outcome.entry == "synthesised"
    script = tmp_path / "plain.py"
    script.write_text(plain_script(file, choice, ours.outcome), encoding="utf-8")
    torchs = plain_torch.run(script)
    assert torchs.raised == ""
    assert breaks_of(ours) == torchs.breaks
    assert [found[1:] for found in recompiles_of(ours)] == [found[1:] for found in torchs.recompiles]
