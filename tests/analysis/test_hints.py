"""Each hint is applied to a program that has the finding, and the finding goes. A hint without a row here fails the test.

What cannot be applied to a program is in ``ADVICE``, each with the reason why: it says how to find out more, or it is about this product's
own options, or it takes a GPU.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hint_programs import CURES, RECOMPILES, WITHOUT_HINT, Cure
from hint_texts import hint_texts

from compile_lens.analysis.finding import Finding
from warm_host import WarmHost

# hints that no edit of a program can try, by how they begin
LOOK = "says how to find out more"
OPTION = "an option of this product, tried in the tests of the option"
GPU = "takes a GPU"
TOOLS = "about what is installed"
START = "about how the program is started, tried in test_how_to_start.py"
MEASURED = "about how long something takes, or a later process"
INDUCTOR = "needs generated code: the fix `disable` is tried in test_fixes.py"
ADVICE = {
    "Give each rank inputs of the same shapes and types": "what the ranks do is compared after the run, in traces of several processes",
    "The error is in torch: try a newer version": LOOK,
    "Try a newer torch": LOOK,
    "Run the function in eager first": LOOK,
    "Check the shapes, dtypes and devices": LOOK,
    'Compile with `backend="aot_eager"`': LOOK,
    "Check custom operators": LOOK,
    'Compile with `backend="eager"`: if that works': LOOK,
    'Compile with `backend="aot_eager_decomp_partition"`': LOOK,
    "Check the operator at this line": LOOK,
    "See the first `error:` line": LOOK,
    "Compile a small function": LOOK,
    "If the kernel is yours": LOOK,
    "If Inductor generated it": LOOK,
    "Call `torch.export.draft_export`": LOOK,
    "Run the exported program first": LOOK,
    "Run it with `TORCH_COMPILE_DISABLE=1`": LOOK,
    "Set `OMP_NUM_THREADS=1`": LOOK,
    "Set `CUDA_LAUNCH_BLOCKING=1`": GPU,
    "Run it under `compute-sanitizer`": GPU,
    "Clone outputs that are kept across calls": GPU,
    "Or call `torch.compiler.cudagraph_mark_step_begin()`": GPU,
    "Return the new value and assign it outside": GPU,
    "Move the tensor to the GPU": GPU,
    "Move the operator out of the compiled function": GPU,
    "Copy into the parameter or buffer": GPU,
    "Call `torch.compiler.cudagraph_mark_step_begin()`": GPU,
    "Pad to a few sizes": GPU,
    "Keep the value in a tensor on the GPU": GPU,
    "Call `torch.set_float32_matmul_precision": GPU,
    "Use a device of compute capability": GPU,
    "The kernel needs more shared memory": GPU,
    "static input data pointer changed": "a sign in torch's text, no hint",
    "The call is in `{}`, in an installed library": "nothing needs to change",
    "Install a C++ compiler": TOOLS,
    "Install it for the interpreter of the run": TOOLS,
    "Run `{} -- {}": START,
    "Set the environment variable": START,
    "Install the version of triton": TOOLS,
    "Install `setuptools`": TOOLS,
    "Compilation does not depend on its values": OPTION,
    "Pass them after `--`": OPTION,
    "To use the real ones": OPTION,
    "To let the program raise instead": OPTION,
    "Run the file without the sandbox": OPTION,
    "Allow ": OPTION,
    "To turn this off": OPTION,
    "Pass it as a tensor, so that": MEASURED,
    "Keep the cache folder": MEASURED,
    "Avoid recompiles first": MEASURED,
    "Use fewer objects in it": MEASURED,
    "On a hot path": MEASURED,
    "Put `torch.compiler.disable` around the line": INDUCTOR,
    "Return the new value and assign it at the call": INDUCTOR,
    "Insert `{}` before this line": "torch's own suggestion, in the text of torch 2.6 to 2.9 (test_error_stages.py)",
    "cudagraph managed tensor": "a sign in torch's text, no hint",
}


def with_edits(cure: Cure) -> str:
    text = cure.program
    for before, after in cure.edits:
        assert before in text, before
        text = text.replace(before, after)
    return text


def found(text: str, cure: Cure, folder: Path, host: WarmHost) -> list[Finding]:
    file = folder / f"program{abs(hash(text))}.py"
    file.write_text(text)
    return [finding for finding in host.analyze(file, cure.depth).outcome.findings if finding.kind is cure.kind]


@pytest.mark.parametrize("cure", CURES, ids=lambda cure: cure.hint)
def test_the_finding_goes_with_what_the_hint_asks_for(cure: Cure, tmp_path: Path, warm_host: WarmHost) -> None:
    before = found(cure.program, cure, tmp_path, warm_host)
    hints = [hint for finding in before for hint in finding.hints]
    assert any(_fits(cure.hint, hint) for hint in hints), (hints, [finding.message for finding in before])
    after = found(with_edits(cure), cure, tmp_path, warm_host)
    assert [finding.message for finding in after] == []


def test_every_hint_is_tried_or_says_why_not() -> None:
    rows = [cure.hint for cure in CURES]
    texts = hint_texts()
    assert not [text for text in texts if not any(_fits(row, text) for row in (*rows, *ADVICE))], "hints without a row"
    torchs = [row for row in rows if "torch._dynamo.config" in row]
    assert not [row for row in (*rows, *ADVICE) if row not in torchs and not any(_fits(row, text) for text in texts)]


def _fits(row: str, hint: str) -> bool:
    """Whether ``hint``, or its template, has the words of ``row``; a value in either fits any."""
    return row in hint or re.search(_pattern(row), hint) is not None or re.search(_pattern(hint), row) is not None


def _pattern(text: str) -> str:
    return re.escape(text).replace(r"\{\}", ".+?")


@pytest.mark.parametrize("name", WITHOUT_HINT)
def test_no_hint_is_given_where_it_would_not_help(name: str, tmp_path: Path, warm_host: WarmHost) -> None:
    cure = Cure("", WITHOUT_HINT[name], (), RECOMPILES)
    findings = found(cure.program, cure, tmp_path, warm_host)
    assert findings
    ours = [
        hint
        for finding in findings
        for hint in finding.hints
        if "mark_dynamic" in hint or "dynamic=True" in hint or "a tensor" in hint
    ]
    assert ours == []
