"""Stages with the user's torch: a file compared with git, the run before, a trace, other options, dynamic shapes and for two GPUs, and
previewed down to machine code.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import editor as editors
import pytest
import pytest_asyncio
from editor import REAL, Editor, Message, capabilities, editor

# each compiles the program in a new way, one of them down to SASS
pytestmark = [pytest.mark.nightly, pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("real-stages")]

LIST, COMPARE = "compileLens.stages", "compileLens.compareStages"
VS_CODE = capabilities(
    workspace={"textDocumentContent": {"dynamicRegistration": True}}, experimental={"compileLensStages": True}
)
PATIENCE_S = 600.0
COMMITTED = """\
import torch


@torch.compile
def normalized(x, weight):
    y = torch.softmax(x @ weight, -1)
    return y * 2


for _ in range(2):
    normalized(torch.ones(32, 64), torch.ones(64, 48))
"""
NOW = COMMITTED.replace("return y * 2", "return torch.sin(y) * 2")
SINE = NOW.split("\n").index("    return torch.sin(y) * 2")


def commit(folder: Path) -> None:
    named = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "."], [*named, "commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Editor, str]]:
    """An editor with the program, which was changed after its last commit."""
    root = tmp_path_factory.mktemp("stages") / "project"
    root.mkdir()
    program = root / "model.py"
    program.write_text(COMMITTED)
    await asyncio.to_thread(commit, root)
    program.write_text(NOW)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(editors, "LIMIT_S", PATIENCE_S)
        async with editor(root.parent, REAL) as ed:
            settings = {"python": sys.executable, "run": {"enabled": "never", "timeout": PATIENCE_S}}
            await ed.initialize(root, settings, capabilities=VS_CODE)
            yield ed, await ed.open(program)


async def content(ed: Editor, uri: str) -> str:
    text: str = (await ed.request("workspace/textDocumentContent", {"uri": uri}))["text"]
    return text


async def compared(ed: Editor, uri: str, before: str, after: str) -> Message:
    answer: Message | None = await ed.command(COMPARE, uri, before, after)
    assert answer is not None, ed.shown()
    return answer


async def code_of(ed: Editor, answer: Message) -> tuple[str, str]:
    """The generated code of both sides."""
    (graph,) = answer["graphs"]
    stage = next(one for one in graph["stages"] if one["title"] == "Output code")
    return await content(ed, stage["before"]), await content(ed, stage["after"])


async def test_the_working_tree_with_git(opened: tuple[Editor, str]) -> None:
    ed, uri = opened
    answer = await compared(ed, uri, "git:HEAD", "")
    assert (answer["title"], answer["changed"]) == ("model.py at HEAD → model.py", True)
    before, after = await code_of(ed, answer)
    assert ("sin" in before, "sin" in after) == (False, True)
    # a commit is compiled once, and what is linked is the source as it is now
    since = ed.mark()
    assert await compared(ed, uri, "git:HEAD", "") == answer
    assert not any(message.get("method") == "$/progress" for message in ed.received[since:])
    (graph,) = answer["graphs"]
    stage = next(one for one in graph["stages"] if one["title"] == "Output code")
    links = await ed.request("compileLens/stageLinks", {"textDocument": {"uri": stage["after"]}})
    assert SINE in {one["line"] for one in links["links"] if one["uri"] == uri}


async def test_the_run_before(opened: tuple[Editor, str]) -> None:
    """Of what is shown, and of what is compiled for the comparison. The graph that did not change comes from torch's cache."""
    ed, uri = opened
    await ed.command(LIST, uri)
    for version, text in enumerate((NOW.replace("* 2", "* 4"), NOW), 2):
        await ed.change(uri, version, {"text": text})
        assert "The run before" in [one["title"] for one in (await ed.command(COMPARE, uri))["choices"]]
        answer = await compared(ed, uri, "earlier", "")
        assert (answer["title"], answer["changed"]) == ("model.py in the run before → model.py", True)
        assert answer["summary"].startswith("1 kernel")
        before, after = await code_of(ed, answer)
        factors = ("4.0", "2.0") if text == NOW else ("2.0", "4.0")
        for code, factor in zip((before, after), factors, strict=True):
            assert f"static_cast<float>({factor})" in code
    # the second time, nothing differs
    answer = await compared(ed, uri, "", "")
    assert not answer["changed"]


async def test_a_trace_of_the_file_with_other_sizes(opened: tuple[Editor, str], tmp_path: Path) -> None:
    ed, uri = opened
    other = tmp_path / "model.py"
    other.write_text(NOW.replace("torch.ones(32, 64)", "torch.ones(16, 64)"))
    caches = {"TORCH_TRACE": str(tmp_path / "trace"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    await asyncio.to_thread(subprocess.run, [sys.executable, str(other)], env={**os.environ, **caches}, check=True)
    (trace,) = (tmp_path / "trace").iterdir()
    other.unlink()  # as if it had been recorded elsewhere
    since = ed.mark()
    assert await ed.command("compileLens.openTrace", trace.as_uri()) is not None
    title, found = f"The trace {trace.name}", []
    while not found:  # its stages are read in the background, and what they are about after that
        await ed.wait(lambda message: message.get("method") == "compileLens/stagesChanged", since)
        since = ed.mark()
        found = [one for one in (await ed.command(COMPARE, uri))["choices"] if one["title"] == title]
    (choice,) = found
    answer = await compared(ed, uri, choice["before"], choice["after"])
    assert (answer["title"], answer["changed"]) == (f"{trace.name} → model.py", True)
    before, after = await code_of(ed, answer)
    assert ("(16, 64)" in before, "(16, 64)" in after) == (True, False)
    assert ("(32, 64)" in before, "(32, 64)" in after) == (False, True)
    await ed.command("compileLens.closeTraces")


async def test_two_sets_of_options(opened: tuple[Editor, str]) -> None:
    ed, uri = opened
    answer = await compared(ed, uri, "options:cpp.simdlen=1", "options:cpp.simdlen=None max_fusion_size=8")
    assert answer["title"] == "model.py with cpp.simdlen=1 → model.py with cpp.simdlen=None max_fusion_size=8"
    assert answer["changed"]
    scalar, vector = await code_of(ed, answer)
    assert ("Vectorized<" in scalar, "Vectorized<" in vector) == (False, True)
    assert await ed.command(COMPARE, uri, "options:no_such_option=1", "") is None
    assert "no_such_option" in ed.shown()[-1]


async def test_static_and_dynamic_shapes(opened: tuple[Editor, str]) -> None:
    ed, uri = opened
    answer = await compared(ed, uri, "", "dynamic")
    assert (answer["title"], answer["changed"]) == ("model.py → model.py with dynamic shapes", True)
    static, dynamic = await code_of(ed, answer)
    sizes = re.compile(r"\bs\d+\b")
    assert (sizes.search(static) is None, sizes.search(dynamic) is None) == (True, False)


async def test_two_gpus_and_the_machine_code_for_one(opened: tuple[Editor, str]) -> None:
    ed, uri = opened
    answer = await compared(ed, uri, "gpu:a100", "gpu:h100")
    assert re.fullmatch(r"model\.py for A100.* → model\.py for H100.*", answer["title"])
    for code in await code_of(ed, answer):
        assert "tl.load" in code
    listed = await ed.command(LIST, uri)
    (preview,) = [one for one in listed["sources"] if one["kind"] == "preview" and "H100" in one["title"]]
    (graph,) = preview["graphs"]
    stages: dict[str, Any] = {one["kind"]: one for one in graph["stages"]}
    assert re.search(r"\d+ registers", stages["ptx"]["detail"])
    assert ".target sm_90" in await content(ed, stages["ptx"]["uri"])
    assert "EXIT" in await content(ed, stages["sass"]["uri"])
