"""What a run may forge of the options of torch: a script sets what torch's own modules of options have, and nothing of other modules."""

from __future__ import annotations

import pytest

from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.tables import bundled_tables
from compile_lens.repro.options import may_have_all, option

MODULES = ("torch._dynamo.config.", "torch._inductor.config.", "torch._functorch.config.")


def nowhere(_: str) -> bool:
    return False


def test_all_options_that_torch_has_may_be_switched() -> None:
    names = [name for name in bundled_tables().table(KnowledgeKind.OPTION) if name.startswith(MODULES)]
    classes = {name.rpartition(".")[0] for name in names}
    assert len(names) > 500
    assert [name for name in names if name not in classes and option(f"{name} = True", nowhere) is None] == []


@pytest.mark.parametrize(
    "line",
    [
        "torch._inductor.config.os.environ = {'PATH': 'bin'}",
        "torch._inductor.config.os.sep = 1",
        "torch._inductor.config.sys.executable = 'evil'",
        "torch._dynamo.config.torch.manual_seed = 1",
        "torch._dynamo.config.torch = 1",
        "torch._dynamo.config.sys = None",
        "torch._inductor.config.triton.os.sep = 1",
        "torch._inductor.config.inductor_prims.x = 1",
        "torch._inductor.config.triton.__doc__ = 1",
        "torch._inductor.config. = 1",
        "torch._inductor.config.cpp.march = 'native -wrapper sh,-c,mktemp'",
        "torch._inductor.config.cpp.march = 'native'",
        "torch._inductor.config.cpp.simdlen_of = 'a -wrapper b'",
    ],
)
def test_what_is_of_another_module_or_an_argument_of_a_tool_is_no_option(line: str) -> None:
    assert option(line, nowhere) is None


def test_options_of_a_call_have_such_names_too() -> None:
    assert may_have_all({"triton.cudagraphs": True, "max_autotune": True}, nowhere)
    assert not may_have_all({"os.sep": 1}, nowhere)
