"""The compiler's stages as documents of the editor, linked to the source: by a recorded trace of a real GPU, and by a run."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

from editor import Editor, Message, capabilities
from tests.recorded_run import program_with_trace

SINGLE = Path(__file__).parent.parent / "data" / "h200-single"
OPEN_TRACE, CLOSE_TRACES = "compileLens.openTrace", "compileLens.closeTraces"
LIST, OPEN, SHOW = "compileLens.stages", "compileLens.openStages", "compileLens.showStage"
NEVER = {"run": {"enabled": "never"}}
VS_CODE = capabilities(
    workspace={"textDocumentContent": {"dynamicRegistration": True}},
    experimental={"compileLensStages": True, "compileLensCommandLinks": True},
)
# `x = x + self.attn(self.n1(x))`, from 0
ATTENTION = 31
# `@torch.compile`, above a function that is compiled for inference
REGION = 63


async def opened(ed: Editor, root: Path, said: Message) -> str:
    """The program of the trace, which is open, with the trace."""
    job = Path(shutil.copytree(SINGLE, root.parent / "job"))
    program = root / "gpu_single.py"
    (job / "gpu_single.py").rename(program)
    await ed.initialize(root, NEVER, capabilities=said)
    uri = await ed.open(program)
    await ed.command(OPEN_TRACE, job.as_uri())
    return uri


async def known(ed: Editor) -> None:
    """The kernels of a trace have been read: it is told twice, before that and after."""

    def is_told(message: Message) -> bool:
        return message.get("method") == "compileLens/stagesChanged"

    first = await ed.wait(is_told)
    await ed.wait(is_told, since=ed.received.index(first) + 1)


def stage_of(answer: Message, graph: str, kind: str) -> Message:
    (source,) = answer["sources"]
    (found,) = [one for one in source["graphs"] if one["title"] == graph]
    stages: list[Message] = found["stages"]
    return next(stage for stage in stages if stage["kind"] == kind)


async def ask(ed: Editor, method: str, uri: str, line: int, **more: Any) -> Any:
    params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 4}, **more}
    return await ed.request(f"textDocument/{method}", params)


async def test_the_stages_of_a_trace_are_documents_linked_to_the_source(raw: Editor, root: Path) -> None:
    uri = await opened(raw, root, VS_CODE)
    await known(raw)
    registered = [m["params"] for m in raw.received if m.get("method") == "client/registerCapability"]
    contents = [one for params in registered for one in params["registrations"] if one["id"] == "stages"]
    assert [one["registerOptions"]["schemes"] for one in contents] == [["compile-lens-stage"]]

    # a list to choose from
    answer = await raw.command(LIST, uri)
    code = stage_of(answer, "forward [1/7] · forward", "output_code")
    assert (code["title"], code["language"]) == ("Output code", "python")
    assert code["uri"].endswith("/1_7/forward/output_code.py")
    kinds = [stage["kind"] for stage in answer["sources"][0]["graphs"][0]["stages"]]
    assert kinds[:2] == ["dynamo", "guards"]

    # its text, and what editors ask of a document
    text = (await raw.request("workspace/textDocumentContent", {"uri": code["uri"]}))["text"]
    lines = text.split("\n")
    assert "async_compile = AsyncCompile()" in text
    document = {"uri": code["uri"], "languageId": "python", "version": 1, "text": text}
    await raw.notify("textDocument/didOpen", {"textDocument": document})
    symbols = await raw.request("textDocument/documentSymbol", {"textDocument": {"uri": code["uri"]}})
    kernel = next(one for one in symbols if one["name"].startswith("triton_"))
    assert lines[kernel["range"]["start"]["line"]].startswith(f"{kernel['name']} = async_compile.triton(")
    folds = await raw.request("textDocument/foldingRange", {"textDocument": {"uri": code["uri"]}})
    assert kernel["range"]["start"]["line"] in {fold["startLine"] for fold in folds}
    number = next(n for n, line in enumerate(lines) if "= empty_strided_cuda(" in line)
    explained = await raw.hover(code["uri"], number, lines[number].index("empty_strided"))
    assert explained is not None
    assert "empty_strided_cuda" in explained["contents"]["value"]

    # from the source to the code and back
    places = await ask(raw, "implementation", uri, ATTENTION)
    assert {place["uri"].rpartition("/")[2] for place in places} == {"output_code.py"}
    mine = [place for place in places if place["uri"] == code["uri"]]
    assert mine
    first = mine[0]["range"]["start"]["line"]
    back = await ask(raw, "references", code["uri"], first, context={"includeDeclaration": False})
    assert (uri, ATTENTION) in {(place["uri"], place["range"]["start"]["line"]) for place in back}
    marks = await ask(raw, "documentHighlight", code["uri"], first)
    assert first in {mark["range"]["start"]["line"] for mark in marks}
    hover = await raw.hover(uri, ATTENTION, 8)
    assert hover is not None
    assert "forward" in hover["contents"]["value"]
    assert "(command:compileLens.showStage?" in hover["contents"]["value"]

    # all links at once, for an editor that colors them
    links = await raw.request("compileLens/stageLinks", {"textDocument": {"uri": code["uri"]}})
    (link,) = [one for one in links["links"] if one["uri"] == uri and one["line"] == ATTENTION]
    assert any(start <= first <= end for start, end in link["ranges"])
    assert all(0 <= one["color"] < 8 for one in links["links"])
    bands = links["bands"]
    assert all(one["last"] < other["first"] for one, other in pairwise(bands))

    # the source moves
    await raw.insert(uri, 2, 0, "# one more line\n")
    links = await raw.request("compileLens/stageLinks", {"textDocument": {"uri": code["uri"]}})
    assert link["ranges"] in [one["ranges"] for one in links["links"] if one["line"] == ATTENTION + 1]
    assert await ask(raw, "implementation", uri, ATTENTION + 1) == places
    assert await ask(raw, "implementation", uri, 0) is None

    # nothing of this is said of documents that are no stages
    assert await raw.request("textDocument/foldingRange", {"textDocument": {"uri": uri}}) is None
    assert await ask(raw, "references", uri, ATTENTION, context={"includeDeclaration": False}) is None
    await raw.command(CLOSE_TRACES)
    assert await ask(raw, "implementation", uri, ATTENTION + 1) is None


async def test_an_editor_that_only_opens_files_gets_files(raw: Editor, root: Path) -> None:
    shown: list[Message] = []
    raw.answers["window/showDocument"] = lambda params: shown.append(params) or {"success": True}
    raw.answers["window/showMessageRequest"] = lambda params: next(
        one for one in params["actions"] if one["title"].startswith("Output code · forward [1/7] · forward")
    )
    uri = await opened(raw, root, capabilities(window={"showDocument": {"support": True}}))
    while not (places := await ask(raw, "implementation", uri, ATTENTION)):
        pass  # the kernels are being read
    file = Path(places[0]["uri"].removeprefix("file://"))
    assert file.name == "output_code.py"
    assert "async_compile = AsyncCompile()" in file.read_text()
    answer = await raw.command(OPEN, uri, str(ATTENTION + 1))
    assert [one["uri"] for one in shown] == [answer["uri"]]
    stage = Path(answer["uri"].removeprefix("file://"))
    assert stage.parts[-3:] == ("1_7", "forward", "output_code.py")
    code = await raw.open(stage)
    first = next(place["range"]["start"]["line"] for place in places if place["uri"] == code)
    back = await ask(raw, "references", code, first, context={"includeDeclaration": False})
    assert (uri, ATTENTION) in {(place["uri"], place["range"]["start"]["line"]) for place in back}


async def test_a_run_gives_stages_which_are_renewed_when_its_text_has_changed(raw: Editor, root: Path) -> None:
    program, trace = program_with_trace(root)
    (root / "said.log").write_bytes(trace)
    program.write_text(f"{program.read_text()}# traced as said.log\n")
    raw.answers["workspace/textDocumentContent/refresh"] = lambda _: None
    await raw.initialize(root, NEVER, capabilities=VS_CODE)
    uri = await raw.open(program)
    offered = await raw.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": place(REGION), "context": {"diagnostics": []}},
    )
    assert any(one["title"].startswith("Open the compiler stages of `") for one in offered)

    # the GPUs are there before anything has run
    before = await raw.command(LIST, uri, "gpus")
    assert before["sources"] == []
    assert {"name": "h100", "title": "H100 80GB HBM3"} in before["gpus"]
    # the first request runs the file, the next one does not
    answer = await raw.command(LIST, uri)
    assert [(one["title"], one["kind"], one["stale"]) for one in answer["sources"]] == [(program.name, "run", False)]
    code = stage_of(answer, "forward [1/7] · forward", "output_code")["uri"]
    assert await ask(raw, "implementation", uri, ATTENTION)
    text = (await raw.request("workspace/textDocumentContent", {"uri": code}))["text"]
    document = {"uri": code, "languageId": "python", "version": 1, "text": text}
    await raw.notify("textDocument/didOpen", {"textDocument": document})
    assert await lenses(raw, code) == []
    assert any(title.startswith("compiler stages: ") for title in await lenses(raw, uri))
    details = await raw.request(
        "compileLens/detailsAt", {"textDocument": {"uri": uri}, "position": {"line": REGION, "character": 8}}
    )
    assert "Stages" in str(details["blocks"])

    await raw.insert(uri, 2, 0, "# one more line\n")
    assert [one["stale"] for one in (await raw.command(LIST, uri))["sources"]] == [True]
    assert await lenses(raw, code) == [f"{program.name} has changed since · compile it again"]
    since = raw.mark()
    (renewed,) = (await raw.command(LIST, uri, "again"))["sources"]
    assert not renewed["stale"]
    refreshed = await raw.wait(lambda m: m.get("method") == "workspace/textDocumentContent/refresh", since)
    assert refreshed["params"]["uri"] == code
    assert await lenses(raw, code) == []
    page = await raw.command("compileLens.stagesPage", uri)
    assert page["title"] == program.name
    assert page["html"].startswith("<!doctype html>")
    # what is not kept is said
    gone = code.replace("/1_7/", "/9_9/")
    assert "no longer kept" in (await raw.request("workspace/textDocumentContent", {"uri": gone}))["text"]
    assert await raw.command(SHOW, gone) is None


async def lenses(ed: Editor, uri: str) -> list[str]:
    return [one["command"]["title"] for one in await ed.lenses(uri) if "stage" in one["command"]["command"].lower()]


def place(line: int) -> Message:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}


async def test_a_debug_folder_has_stages_that_open_at_once(raw: Editor, root: Path) -> None:
    uri = await opened(raw, root, VS_CODE)
    await known(raw)
    code = stage_of(await raw.command(LIST, uri), "forward [1/7] · forward", "output_code")
    text = (await raw.request("workspace/textDocumentContent", {"uri": code["uri"]}))["text"]
    written = root / "torch_compile_debug" / "run_1" / "torchinductor" / "model__0_forward_1.0"
    written.mkdir(parents=True)
    (written / "output_code.py").write_text(text)
    answer = await raw.command(OPEN_TRACE, (root / "torch_compile_debug").as_uri())
    assert (answer["findings"], answer["files"]) == (0, [])
    (source,) = (await raw.command(LIST, answer["stages"]))["sources"]
    assert source["title"] == "torch_compile_debug"
    assert source["graphs"][0]["stages"][0]["kind"] == "output_code"
    assert (await raw.request("workspace/textDocumentContent", {"uri": answer["stages"]}))["text"] == text


async def test_a_document_has_no_characters_that_are_never_seen(raw: Editor, root: Path) -> None:
    """Names and comments of a program stand in what the compiler writes."""
    written = root / "torch_compile_debug" / "run_1" / "torchinductor" / "model__0_forward_1.0"
    written.mkdir(parents=True)
    (written / "output_code.py").write_text("a = 1  # \u202e} # \x1b]0;t\x07\nb = 2\n", encoding="utf-8")
    await raw.initialize(root, NEVER, capabilities=VS_CODE)
    answer = await raw.command(OPEN_TRACE, (root / "torch_compile_debug").as_uri())
    text = (await raw.request("workspace/textDocumentContent", {"uri": answer["stages"]}))["text"]
    assert text == "a = 1  # \\u202e} # \\x1b]0;t\\x07\nb = 2\n"
