"""What a place in source names, and what may be written there."""

from __future__ import annotations

import pytest

from compile_lens.syntax.compiler_output import generic_name, word_at
from compile_lens.syntax.contexts import MentionKind, mention_at
from compile_lens.syntax.settings_text import settings_of_line
from compile_lens.syntax.slots import Slot, SlotKind, python_slot, text_slot
from compile_lens.syntax.tree import parse
from compile_lens.syntax.window import MAX_LINES, imports_of, window_around

HEAD = """\
import os
import torch
import torch as t
import torch._dynamo.config as dc
import torch._inductor.config
from functools import partial
from torch import compile as tc
from torch._inductor import config as ic
cfg = torch._functorch.config
"""


@pytest.mark.parametrize(
    ("code", "sort", "name"),
    [
        ('os.environ["TORCH_LOGS"] = "dynamo, +fus¦ion"', MentionKind.LOG, "fusion"),
        ('os.environ.setdefault("TORCH_LOGS", "fus¦ion")', MentionKind.LOG, "fusion"),
        ('monkeypatch.setenv("TORCH_LOGS", "fus¦ion")', MentionKind.LOG, "fusion"),
        ('run(env={"TORCH_LOGS": "fus¦ion"})', MentionKind.LOG, "fusion"),
        ('run(env=dict(os.environ, TORCH_LOGS="fus¦ion"))', MentionKind.LOG, "fusion"),
        ('run("TORCH_LOGS=fus¦ion python x.py", shell=True)', MentionKind.LOG, "fusion"),
        ('run("TORCH_L¦OGS=fusion python x.py", shell=True)', MentionKind.VARIABLE, "TORCH_LOGS"),
        ('os.environ["TORCH_¦LOGS"]', MentionKind.VARIABLE, "TORCH_LOGS"),
        ('os.getenv("TORCH_¦LOGS")', MentionKind.VARIABLE, "TORCH_LOGS"),
        ('os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "¦1"', MentionKind.VALUE, "1"),
        ("torch._logging.set_logs(graph_br¦eaks=True)", MentionKind.LOG, "graph_breaks"),
        ("ic.triton.cudag¦raphs = True", MentionKind.NAME, "torch._inductor.config.triton.cudagraphs"),
        ("torch._inductor.config.max_aut¦otune = True", MentionKind.NAME, "torch._inductor.config.max_autotune"),
        ("dc.suppress_¦errors = True", MentionKind.NAME, "torch._dynamo.config.suppress_errors"),
        ("cfg.c¦se = False", MentionKind.NAME, "torch._functorch.config.cse"),
        ('ic.patch({"max_aut¦otune": True})', MentionKind.OPTION, "torch._inductor.config.max_autotune"),
        ("ic.patch(max_aut¦otune=True)", MentionKind.OPTION, "torch._inductor.config.max_autotune"),
        ('ic.patch("triton.cuda¦graphs", True)', MentionKind.OPTION, "torch._inductor.config.triton.cudagraphs"),
        ('t.compile(f, mode="max-aut¦otune")', MentionKind.MODE, "max-autotune"),
        ('tc(f, backend="aot_e¦ager")', MentionKind.BACKEND, "aot_eager"),
        ('torch._dynamo.optimize("aot_e¦ager")(f)', MentionKind.BACKEND, "aot_eager"),
        ('partial(torch.compile, mode="def¦ault")', MentionKind.MODE, "default"),
        ("torch.compile(f, fullg¦raph=True)", MentionKind.ARGUMENT, "fullgraph"),
        (
            'torch.compile(f, options={"triton.cud¦agraphs": True})',
            MentionKind.OPTION,
            "torch._inductor.config.triton.cudagraphs",
        ),
        ("torch.ops.aten.re¦lu.default(x)", MentionKind.NAME, "torch.ops.aten.relu"),
        ("torch.ops.aten.relu¦.default(x)", MentionKind.NAME, "torch.ops.aten.relu"),
        ("x.softm¦ax(-1)", MentionKind.METHOD, "softmax"),
    ],
)
def test_what_a_place_names(code: str, sort: MentionKind, name: str) -> None:
    text = HEAD + code.replace("¦", "") + "\n"
    line = HEAD.count("\n") + 1
    mention = mention_at(parse(text), imports_of(text), line, code.index("¦") + 1)
    assert mention is not None
    assert (mention.sort, mention.name) == (sort, name)


@pytest.mark.parametrize(
    "code",
    [
        'print("fus¦ion")',
        'model.compile(mode="max-aut¦otune")',
        "y = x¦ + 1",
        'open("¦")',
        're.compile(r"TOR¦CH")',
        "¦",
    ],
)
def test_a_place_that_names_nothing(code: str) -> None:
    text = HEAD + code.replace("¦", "") + "\n"
    assert mention_at(parse(text), imports_of(text), HEAD.count("\n") + 1, code.index("¦") + 1) is None


@pytest.mark.parametrize(
    ("code", "slot"),
    [
        ('os.environ["TORCH_LOGS"] = "+dynamo,fu', Slot(SlotKind.LOG, "fu")),
        ('env = {"TORCH_LOGS": "', Slot(SlotKind.LOG, "")),
        ('os.environ["TORCHIND', Slot(SlotKind.VARIABLE, "TORCHIND")),
        ("ic.triton.cu", Slot(SlotKind.OPTION, "cu", "torch._inductor.config.triton")),
        ('torch.compile(f, mode="max-', Slot(SlotKind.MODE, "max-")),
        ('torch.compile(\n    f,\n    backend="', Slot(SlotKind.BACKEND, "")),
        ('torch.compile(f, options={"a": 1, "ma', Slot(SlotKind.OPTION_KEY, "ma", "torch._inductor.config")),
        ("torch.compile(f, fu", Slot(SlotKind.ARGUMENT, "fu")),
        ("torch._logging.set_logs(gr", Slot(SlotKind.LOG_KEYWORD, "gr")),
        ('print("TORCH', None),
        ("x.", None),
        ("# torch.compile(f, ", None),
    ],
)
def test_what_may_be_written(code: str, slot: Slot | None) -> None:
    *above, before = code.split("\n")
    assert python_slot(above, before, imports_of(HEAD)) == slot


@pytest.mark.parametrize(
    ("line", "before", "slot"),
    [
        ("export TORCH_LOGS=dynamo,fu", "", Slot(SlotKind.LOG, "fu")),
        ('  TORCH_LOGS: "fu', "", Slot(SlotKind.LOG, "fu")),
        ("    value: fu", "  - name: TORCH_LOGS", Slot(SlotKind.LOG, "fu")),
        ("ENV TORCHIND", "", Slot(SlotKind.VARIABLE, "TORCHIND")),
        ("echo hello", "", None),
    ],
)
def test_what_may_be_written_elsewhere(line: str, before: str, slot: Slot | None) -> None:
    assert text_slot(line, before) == slot


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("A_B=1 TORCH_LOGS='a, b' python x.py", [("A_B=1", "")]),
        ("TORCH_LOGS=a,b", [("TORCH_LOGS", "a,b")]),
        ('"TORCH_LOGS": "a",', [("TORCH_LOGS", "a")]),
        ("ENV TORCH_LOGS a", [("TORCH_LOGS", "a")]),
        ("the TORCH_LOGS variable", []),
    ],
)
def test_settings_of_a_line(line: str, found: list[tuple[str, str]]) -> None:
    settings = [(setting.name, setting.value) for setting in settings_of_line(line)]
    if found and "=" in found[0][0]:
        assert ("TORCH_LOGS", "a, b") in settings
    else:
        assert settings == found


def test_a_window_has_the_imports_of_the_whole_file() -> None:
    body = "".join(f"def f{number}(x):\n    return ic.max_autotune\n\n\n" for number in range(MAX_LINES))
    lines = (HEAD + body).split("\n")
    window = window_around(lines.__getitem__, len(lines), 800, imports_of(HEAD))
    assert len(window.tree.lines) < 20
    assert window.imports.resolve("ic.max_autotune") == "torch._inductor.config.max_autotune"
    line = 800 - window.first_line + 1
    assert window.tree.line_text(line) == lines[799]


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        ("relu = torch.ops.aten.relu.default(x)", 25, "torch.ops.aten.relu"),
        ("tmp0 = tl.load(in_ptr0 + x0)", 11, "tl.load"),
        ("  ", 1, None),
    ],
)
def test_a_word_up_to_the_part_that_is_asked_for(line: str, column: int, text: str | None) -> None:
    word = word_at(line, column)
    assert (word.text if word is not None else None) == text


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("buf12", "buf0"),
        ("primals_7", "primals_1"),
        ("arg3_1", "arg0_1"),
        ("triton_poi_fused_relu_0", "triton_poi_fused"),
        ("cpp_fused_add_1", "cpp_fused"),
        ("xmask", "xmask"),
    ],
)
def test_a_numbered_name_is_explained_by_the_first_of_its_kind(word: str, name: str) -> None:
    assert generic_name(word) == name
