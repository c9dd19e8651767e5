"""What a repro file promises, held against one that was written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from repros import run_each

from compile_lens.repro.contract import (
    BACKEND_VARIABLE,
    BISECT_STATE,
    KEEP_CACHE_VARIABLE,
    Criterion,
    ExitCode,
    HeaderError,
    parse_header,
    write_header,
)

pytestmark = pytest.mark.xdist_group("repros")  # one process that scripts are forked from

PLANTED = Path(__file__).with_name("planted") / "relu_accuracy.py"


def test_a_header_is_read_as_it_was_written() -> None:
    fields = {"criterion": "raises", "kind": "source", "expect": "ValueError\nof two lines", "verified": "yes, in 3 s"}
    header = parse_header(write_header("a title", fields) + "import torch\n# criterion: breaks\n")
    assert header.criterion is Criterion.RAISES
    assert header.fields == fields
    assert header.fields["verified"].startswith("yes")


@pytest.mark.parametrize("text", ["", "import torch\n", "# A repro for torch.compile: x\n#\n# criterion: worse\n"])
def test_what_is_no_repro_is_told_in_one_sentence(text: str) -> None:
    with pytest.raises(HeaderError, match=r"^[^\n]+\.$"):
        parse_header(text)


def test_the_planted_bug_is_bad_and_its_header_says_how_it_is_judged(tmp_path: Path) -> None:
    assert parse_header(PLANTED.read_text()).criterion is Criterion.DIFFERS
    variables = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), BACKEND_VARIABLE: "inductor"}
    ((code, said),) = run_each([(PLANTED, variables)])
    assert code == ExitCode.BAD, said
    assert said.startswith("BAD with backend inductor: compiled differs from eager in output of call 1[0]")
    assert not list(tmp_path.iterdir()), "the cache that the environment names was used"


KEPT = """
import os, runpy
from pathlib import Path
repro = runpy.run_path({planted!r})
for folder, variables in {cases!r}:
    Path(folder, "bisect").mkdir(parents=True)
    if not variables:
        Path(folder, {state!r}).write_text("backend=eager\\nsubsystem=\\n")
    os.environ.update(variables, TORCHINDUCTOR_CACHE_DIR=folder)
    with repro["fresh_cache"]():
        print(os.environ["TORCHINDUCTOR_CACHE_DIR"] == folder)
    for name in variables:
        del os.environ[name]
"""


def test_the_cache_is_kept_where_the_bisector_has_its_state_and_where_it_is_asked_for(tmp_path: Path) -> None:
    cases = [
        (str(tmp_path / "state"), {}),
        (str(tmp_path / "asked"), {KEEP_CACHE_VARIABLE: "1"}),
        (str(tmp_path / "variable"), {"TORCH_BISECT_MAX": "0"}),
    ]
    program = KEPT.format(planted=str(PLANTED), cases=cases, state=BISECT_STATE)
    script = tmp_path / "script.py"
    script.write_text(program)
    ((_, said),) = run_each([(script, {})])
    assert said.split() == ["True"] * len(cases)
