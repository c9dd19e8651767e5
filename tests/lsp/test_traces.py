"""A trace of another run, opened in the editor: findings, hovers and lenses stand in the files that it is about."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from editor import Editor, capabilities

TRACE = Path(__file__).parent.parent / "data" / "h200-ddp"
OPEN, CLOSE = "compileLens.openTrace", "compileLens.closeTraces"
FOLLOW, STOP = "compileLens.followTraces", "compileLens.stopFollowingTraces"


async def test_a_trace_is_shown_in_the_files_of_the_workspace(raw: Editor, root: Path) -> None:
    job = Path(shutil.copytree(TRACE, root.parent / "job"))
    program = root / "gpu_ddp.py"
    (job / "gpu_ddp.py").rename(program)
    said = capabilities(experimental={"compileLensTree": True})
    await raw.initialize(root, {"run": {"enabled": "never"}}, capabilities=said)
    uri = await raw.open(program)
    answer = await raw.command(OPEN, job.as_uri())
    assert (answer["ranks"], answer["findings"], answer["elsewhere"]) == (2, 4, 0)
    assert answer["files"] == [uri]
    found = await raw.published(uri)
    assert {one["code"] for one in found} == {"rank-divergence", "GB0007", "GB0156", "recompile"}
    assert {one["range"]["start"]["line"] for one in found} == {8}
    hover = await raw.hover(uri, 8, 8)
    assert hover is not None
    assert "Ranks diverge" in hover["contents"]["value"]
    tree = await raw.wait(
        lambda m: m.get("method") == "compileLens/tree" and m["params"]["files"][-1]["kind"] == "trace"
    )
    opened = tree["params"]["files"][-1]
    assert (opened["label"], opened["description"].partition(" · ")[0]) == ("job", "4 findings")
    assert {(one["kind"], one["uri"], one["range"]["start"]["line"]) for one in opened["children"]} == {
        ("traced", uri, 8)
    }
    since = len(raw.received)
    await raw.command(CLOSE)
    assert await raw.published(uri, lambda found: not found, since) == []


async def test_what_is_no_trace_is_said_once(raw: Editor, root: Path) -> None:
    await raw.initialize(root, {"run": {"enabled": "never"}})
    (root / "noise.log").write_bytes(bytes(range(256)) * 40)
    assert await raw.command(OPEN, (root / "noise.log").as_uri()) is None
    assert raw.shown() == [
        f"Compile Lens: {root / 'noise.log'} is not a torch trace. `TORCH_TRACE=DIR` lets a run of torch write one."
    ]


STORM = """\
import os, time
import torch

class Config:
    name = ""

@torch.compile(backend="eager")
def step(x):
    return x + len(Config.name) if Config.name != "-" else x

for number in range(6):
    Config.name = f"run{number}"
    step(torch.ones(3))
while not os.path.exists("enough"):
    time.sleep(0.05)
"""


async def test_a_running_job_is_followed(raw: Editor, root: Path) -> None:
    """Both kinds: a file that is run from the editor, and the folder of a job that was started elsewhere."""
    await raw.initialize(root, {"run": {"enabled": "never"}})
    program = root / "train.py"
    program.write_text(STORM)
    uri = await raw.open(program)
    run = await raw.command("compileLens.runAndFollow", uri)
    assert run["command"][1:] == [str(program)]
    folder = Path(run["environment"]["TORCH_TRACE"])
    elsewhere = root.parent / "job"
    assert await raw.command(FOLLOW, elsewhere.as_uri()) is True
    assert await raw.command(FOLLOW, elsewhere.as_uri()) is False
    process = await asyncio.create_subprocess_exec(
        *run["command"], cwd=run["cwd"], env={**os.environ, **run["environment"]}
    )
    said = await raw.wait(lambda m: m.get("method") == "window/showMessage" and "storm" in m["params"]["message"])
    assert said["params"]["message"].startswith("Compile Lens: train.py:9: Recompile storm: recompiled `step` ")
    assert process.returncode is None  # it was told while the job ran
    (root / "enough").touch()
    assert await process.wait() == 0
    found = await raw.published(uri, lambda found: any(one["code"] == "recompile" for one in found))
    # on a slow machine, the time that guards take is a finding, too
    assert {one["range"]["start"]["line"] for one in found if one["code"] == "recompile"} == {8}
    assert await raw.command(STOP, run["folder"]) is True
    since = raw.mark()
    shutil.copytree(folder, elsewhere)
    await raw.wait(lambda m: m.get("method") == "$/progress" and "job: 1 recompile" in str(m["params"]), since)
    await raw.command(CLOSE)
    assert await raw.published(uri, lambda found: not found, since) == []
    assert await raw.command(STOP) is False
    await raw.shut_down()
    assert not folder.exists()
