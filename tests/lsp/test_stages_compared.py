"""The compiler's stages of a file, compared with an earlier run, with git, with other options, and before and after passes."""

from __future__ import annotations

import asyncio
import difflib
import os
import subprocess
from pathlib import Path

import pytest
from editor import Editor, Message, capabilities
from tests.recorded_run import as_it_was, program_with_trace

from compile_lens.analysis.outcome import Status
from compile_lens.lsp.compiler_stages.making import why_no_stages

LIST, COMPARE = "compileLens.stages", "compileLens.compareStages"
NEVER = {"run": {"enabled": "never"}}
VS_CODE = capabilities(
    workspace={"textDocumentContent": {"dynamicRegistration": True}}, experimental={"compileLensStages": True}
)


def program_of(root: Path) -> tuple[Path, str]:
    """The program, whose runs say what ``after.log`` has, and its text; ``before.log`` is of an earlier version."""
    program, trace = program_with_trace(root)
    (root / "after.log").write_bytes(trace)
    (root / "before.log").write_bytes(as_it_was(trace))
    text = f"{program.read_text()}# traced as after.log\n"
    program.write_text(text)
    return program, text


def commit(folder: Path) -> None:
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def changed_stage(answer: Message) -> Message:
    (stage,) = [one for graph in answer["graphs"] for one in graph["stages"] if one["changed"]]
    found: Message = stage
    return found


async def content(ed: Editor, uri: str) -> list[str]:
    text: str = (await ed.request("workspace/textDocumentContent", {"uri": uri}))["text"]
    return text.split("\n")


async def test_git_is_not_started_in_a_workspace_that_is_not_trusted(
    raw: Editor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It starts programs that a repository names."""
    program, _ = program_of(root)
    await asyncio.to_thread(commit, root)
    git, ran = root / "bin" / "git", root / "ran"
    git.parent.mkdir()
    git.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    await raw.initialize(root, NEVER, trust=False, capabilities=VS_CODE)
    uri = await raw.open(program)
    titles = [one["title"] for one in (await raw.command(COMPARE, uri))["choices"]]
    assert "Dynamic shapes" in titles and "The last commit" not in titles
    assert await raw.command(COMPARE, uri, "git:HEAD", "") is None
    assert not ran.exists()


@pytest.mark.slow
async def test_a_file_is_compared_with_its_last_run_and_with_git(raw: Editor, root: Path) -> None:
    program, text = program_of(root)
    program.write_text(text.replace("after.log", "before.log"))
    await asyncio.to_thread(commit, root)
    await raw.initialize(root, NEVER, capabilities=VS_CODE)
    uri = await raw.open(program)
    titles = [one["title"] for one in (await raw.command(COMPARE, uri))["choices"]]
    assert titles[:2] == ["The last commit", "Another git revision…"]
    assert "The run before" not in titles
    await raw.command(LIST, uri)

    program.write_text(text)
    await raw.change(uri, 2, {"text": text})
    answer = await raw.command(COMPARE, uri, "git:HEAD", "")
    assert (answer["title"], answer["changed"]) == (f"{program.name} at HEAD → {program.name}", True)
    assert answer["summary"].startswith("128 → 127 kernels, 76 library calls")
    stage = changed_stage(answer)
    assert (stage["title"], stage["what"]) == ("Output code", "0 lines added, 3 removed")
    before, after = await content(raw, stage["before"]), await content(raw, stage["after"])
    differs = [line for line in difflib.ndiff(before, after) if line[:1] in "+-"]
    assert all(line.startswith("-") for line in differs)
    assert len(differs) == 3
    assert not any("buf24" in line for line in before if line not in differs and f"- {line}" not in differs)
    # what is linked is the source as it is now
    links = await raw.request("compileLens/stageLinks", {"textDocument": {"uri": stage["before"]}})
    there = await raw.request("compileLens/stageLinks", {"textDocument": {"uri": stage["after"]}})
    assert {one["uri"] for one in links["links"]} >= {uri}
    assert {one["line"] for one in links["links"] if one["uri"] == uri} == {
        one["line"] for one in there["links"] if one["uri"] == uri
    }
    assert not links["stale"]

    # the same by the run before, which is kept
    assert "The run before" in [one["title"] for one in (await raw.command(COMPARE, uri))["choices"]]
    again = await raw.command(COMPARE, uri, "earlier", "")
    assert again["summary"] == answer["summary"]
    assert again["title"] == f"{program.name} in the run before → {program.name}"
    assert len(changed_stage(again)["what"]) == len(stage["what"])
    # and none of it is told of the lines of the file
    assert [one["kind"] for one in (await raw.command(LIST, uri))["sources"]] == ["run"]

    since = raw.mark()
    assert await raw.command(COMPARE, uri, "git:no_such_branch", "") is None
    said = await raw.wait(lambda m: m.get("method") == "window/showMessage", since)
    assert "'no_such_branch' is not a revision of the repository" in said["params"]["message"]


async def test_the_run_before_is_that_before_the_one_that_is_compared(raw: Editor, root: Path) -> None:
    program, text = program_of(root)
    earlier = text.replace("after.log", "before.log")
    program.write_text(earlier)
    await raw.initialize(root, NEVER, capabilities=VS_CODE)
    uri = await raw.open(program)
    await raw.command(LIST, uri)
    for version, (now, summary) in enumerate(((text, "128 → 127 kernels"), (earlier, "127 → 128 kernels")), 2):
        await raw.change(uri, version, {"text": now})
        assert "The run before" in [one["title"] for one in (await raw.command(COMPARE, uri))["choices"]]
        answer = await raw.command(COMPARE, uri, "earlier", "")
        assert answer["summary"].startswith(summary)
        # the documents are of the same runs
        stage = changed_stage(answer)
        before, after = await content(raw, stage["before"]), await content(raw, stage["after"])
        assert len(after) - len(before) == 3 * (1 if now == earlier else -1)


async def test_options_passes_and_what_cannot_be_compared(raw: Editor, root: Path) -> None:
    program, _ = program_of(root)
    await raw.initialize(root, NEVER, capabilities=VS_CODE)
    uri = await raw.open(program)
    offered = (await raw.command(COMPARE, uri))["choices"]
    assert not any(one["title"] == "The last commit" for one in offered)
    (gpus,) = [one for one in offered if one["title"] == "Two GPUs…"]
    assert [len(ask["values"]) > 5 for ask in gpus["asks"]] == [True, True]

    # the stub's torch does the same whatever its options
    answer = await raw.command(COMPARE, uri, "", "dynamic")
    assert (answer["title"], answer["changed"]) == (f"{program.name} → {program.name} with dynamic shapes", False)
    answer = await raw.command(COMPARE, uri, "", "options:max_autotune=1 epilogue_fusion=0")
    assert answer["title"].endswith("with max_autotune=1 epilogue_fusion=0")

    passes = await raw.command(COMPARE, uri, "passes", "")
    assert passes["summary"].startswith("passes changed ")
    stage = next(one for graph in passes["graphs"] for one in graph["stages"] if one["changed"])
    assert await content(raw, stage["before"]) != await content(raw, stage["after"])

    for side, told in (
        ("options:max_autotune", "'max_autotune' is not NAME=VALUE."),
        ("gpu:no_such_gpu", "No GPU is known as"),
        ("earlier", "are kept to compare with"),
    ):
        since = raw.mark()
        assert await raw.command(COMPARE, uri, side, "") is None
        said = await raw.wait(lambda m: m.get("method") == "window/showMessage", since)
        assert told in said["params"]["message"]


async def test_an_editor_without_the_view_is_asked_and_gets_a_page(raw: Editor, root: Path) -> None:
    program, _ = program_of(root)
    shown: list[Message] = []
    raw.answers["window/showDocument"] = lambda params: shown.append(params) or {"success": True}
    raw.answers["window/showMessageRequest"] = lambda params: next(
        one for one in params["actions"] if one["title"] == "Dynamic shapes"
    )
    await raw.initialize(root, NEVER, capabilities=capabilities(window={"showDocument": {"support": True}}))
    uri = await raw.open(program)
    answer = await raw.command(COMPARE, uri)
    assert not answer["changed"]
    assert [one["uri"] for one in shown] == [answer["uri"]]
    assert "No stage differs" in Path(answer["uri"].removeprefix("file://")).read_text()


def test_a_run_that_was_stopped_is_told_from_one_that_compiles_nothing() -> None:
    def told(status: Status) -> str:
        return why_no_stages(status, "train.py", 60.0, 15.0)

    assert told(Status.TIMEOUT).startswith(
        "stopped train.py after 60 s (`compileLens.run.timeout`), before it compiled a graph."
    )
    assert told(Status.IDLE).startswith(
        "stopped train.py after 15 s without compilation (`compileLens.budget.idle`), before"
    )
    assert told(Status.RAISED).startswith("train.py raised an exception before it compiled a graph")
    assert told(Status.OK) == "the run of train.py compiled no graph, so there are no stages."
