"""Names of torch's in an editor: hovers, completion, diagnostics with fixes, signature help, definitions, links."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from editor import Editor, Message, editor

from compile_lens.knowledge.tables import BUNDLED
from compile_lens.workers.extraction import find_torch, table_path

NEVER = {"run": {"enabled": "never"}}
PROGRAM = """\
import os
import subprocess
import torch
import torch._logging
import torch.nn.functional as F
from torch._inductor import config as ic

os.environ["TORCH_LOGS"] = "+dynamo,graph_breaks"
subprocess.run(["python", "x.py"], env={**os.environ, "TORCH_LOGS": "fusion", "TORCHINDUCTOR_MAX_AUTOTUNE": "1"})
torch._logging.set_logs(recompiles=True)
ic.triton.cudagraphs = True
compiled = torch.compile(lambda x: x, mode="max-autotune", dynamic=False, options={"epilogue_fusion": True})
y = torch.ops.aten.relu.default(torch.ones(3))
z = F.layer_norm(y, (3,))  # GB0059
command = "TORCH_LOGS=output_code python train.py"
"""


@pytest.fixture
async def editor_with_torch(root: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Editor]:
    """An editor whose server has the tables of the installed torch in its cache: the bundled ones, with that torch's folder."""
    cache = {"COMPILE_LENS_CACHE_DIR": str(root.parent / "cache")}
    monkeypatch.setenv(*next(iter(cache.items())))
    torch = find_torch(sys.executable)
    assert torch is not None
    path = table_path(torch, cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(BUNDLED) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename == "manifest.json":
                content = json.dumps({**json.loads(content), "root": str(torch.folder.parent)}).encode()
            target.writestr(member, content)
    async with editor(root.parent) as found:
        await found.initialize(root, NEVER)
        yield found


async def opened(ed: Editor, file: Path, text: str, language: str = "python") -> str:
    uri = file.as_uri()
    document = {"uri": uri, "languageId": language, "version": 1, "text": text}
    await ed.notify("textDocument/didOpen", {"textDocument": document})
    return uri


def place(text: str, mark: str, offset: int = 1) -> Message:
    """The position of the first ``mark``, ``offset`` characters in."""
    before = text[: text.index(mark) + offset]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


async def hovered(ed: Editor, uri: str, text: str, mark: str, offset: int = 1) -> str:
    position = place(text, mark, offset)
    hover = await ed.hover(uri, position["line"], position["character"])
    assert hover is not None, mark
    return str(hover["contents"]["value"])


async def test_a_fresh_cache_answers_from_the_bundled_tables_and_leads_to_the_installed_sources(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(root.parent / "cache"))
    torch = find_torch(sys.executable)
    assert torch is not None
    async with editor(root.parent) as ed:
        await ed.initialize(root, NEVER)
        uri = await opened(ed, root / "train.py", PROGRAM)
        assert "bundled table" in (await hovered(ed, uri, PROGRAM, "relu")).rpartition("---")[2]
        where = {"textDocument": {"uri": uri}, "position": place(PROGRAM, "relu")}
        found = await ed.request("textDocument/definition", where)
        assert found and found[0]["uri"].startswith(torch.folder.as_uri())
    assert not list((root.parent / "cache").glob("knowledge/*"))


@pytest.mark.nightly  # the server waits 20 s for the first analyses
async def test_the_installed_torch_is_read_in_the_background_with_progress(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(root.parent / "cache"))
    torch = find_torch(sys.executable)
    assert torch is not None
    path = table_path(torch, {"COMPILE_LENS_CACHE_DIR": str(root.parent / "cache")})
    parts = Path(f"{path}.parts")
    parts.mkdir(parents=True)
    with zipfile.ZipFile(BUNDLED) as archive:  # all but one were read before
        for name in set(archive.namelist()) - {"log.json", "manifest.json"}:
            (parts / name).write_bytes(archive.read(name))

    def values(message: Message) -> Message:
        value: Message = message.get("params", {}).get("value", {}) if message.get("method") == "$/progress" else {}
        return value

    async with editor(root.parent) as ed:
        await ed.initialize(root, {"run": {"enabled": "always"}})
        text = "import torch\ny = torch.ops.aten.relu.default(torch.ones(3))\n"
        uri = await opened(ed, root / "train.py", text)
        assert "bundled table" in await hovered(ed, uri, text, "relu")
        await ed.wait(lambda message: "Reading torch" in values(message).get("message", ""))
        await ed.wait(lambda message: values(message).get("message", "").endswith("tables"))
        await ed.wait(lambda message: values(message).get("kind") == "end")
        assert "bundled table" not in await hovered(ed, uri, text, "relu")
    assert path.is_file() and not parts.exists()


@pytest.mark.parametrize(
    ("mark", "offset", "heading"),
    [
        ("dynamo,", 1, "TORCH_LOGS=dynamo"),
        ("graph_breaks", 3, "TORCH_LOGS=graph_breaks"),
        ('TORCH_LOGS"', 3, "TORCH_LOGS"),
        ('"fusion"', 2, "TORCH_LOGS=fusion"),
        ("TORCHINDUCTOR_MAX_AUTOTUNE", 3, "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("recompiles=", 2, "TORCH_LOGS=recompiles"),
        ("cudagraphs =", 2, "torch._inductor.config.triton.cudagraphs"),
        ("max-autotune", 2, "max-autotune"),
        ("mode=", 1, "mode"),
        ("dynamic=", 1, "dynamic"),
        ("epilogue_fusion", 2, "torch._inductor.config.epilogue_fusion"),
        ("relu", 1, "aten.relu"),
        ("layer_norm", 1, "torch.nn.functional.layer_norm"),
        ("GB0059", 2, "GB0059"),
        ("output_code", 2, "TORCH_LOGS=output_code"),
    ],
)
async def test_a_hover_in_python(editor_with_torch: Editor, root: Path, mark: str, offset: int, heading: str) -> None:
    uri = await opened(editor_with_torch, root / "train.py", PROGRAM)
    text = await hovered(editor_with_torch, uri, PROGRAM, mark, offset)
    assert text.startswith(f"**`{heading}`**")
    assert "torch 2.13" in text.rpartition("---")[2]


@pytest.mark.parametrize(
    ("name", "language", "text"),
    [
        ("run.sh", "shellscript", "#!/bin/sh\nexport TORCH_LOGS=+dynamo,fusion\n"),
        (".env", "dotenv", "TORCH_LOGS=fusion\n"),
        ("Dockerfile", "dockerfile", "FROM python\nENV TORCH_LOGS fusion\n"),
        ("job.yaml", "yaml", "env:\n  TORCH_LOGS: 'fusion'\n"),
        ("pod.yaml", "yaml", "env:\n  - name: TORCH_LOGS\n    value: fusion\n"),
        ("tox.toml", "toml", '[env]\nTORCH_LOGS = "fusion"\n'),
        ("launch.json", "jsonc", '{"env": {"TORCH_LOGS": "fusion"}}\n'),
    ],
)
async def test_a_hover_where_the_variable_is_set(
    editor_with_torch: Editor, root: Path, name: str, language: str, text: str
) -> None:
    uri = await opened(editor_with_torch, root / name, text, language)
    assert (await hovered(editor_with_torch, uri, text, "fusion")).startswith("**`TORCH_LOGS=fusion`**")
    assert (await hovered(editor_with_torch, uri, text, "TORCH_LOGS")).startswith("**`TORCH_LOGS`**")


@pytest.mark.parametrize(
    ("mark", "heading"),
    [
        ("SchedulerNode", "SchedulerNode"),
        ("MemoryDep", "MemoryDep"),
        ("ops.load", "ops.load"),
        ("Pointwise", "Pointwise"),
    ],
)
async def test_a_hover_in_a_dump(editor_with_torch: Editor, root: Path, mark: str, heading: str) -> None:
    text = (
        "op0: SchedulerNode(ComputedBuffer)\nop0.writes = [MemoryDep('buf0', c0, {c0: 64})]\n"
        "load = ops.load('arg0_1', get_index)\nPointwise(['[8, 8]'])\n"
    )
    uri = await opened(editor_with_torch, root / "ir_pre_fusion.txt", text, "plaintext")
    assert (await hovered(editor_with_torch, uri, text, mark, 5)).startswith(f"**`{heading}`**")


async def complete(ed: Editor, uri: str, text: str, mark: str) -> list[Message]:
    position = place(text, mark, 0)
    params = {"textDocument": {"uri": uri}, "position": position}
    found = await ed.request("textDocument/completion", params)
    return list(found["items"]) if found is not None else []


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('import os\nos.environ["TORCH_LOGS"] = "+dynamo,|"\n', "graph_breaks"),
        ('import os\nos.environ["TORCH_LOGS"] = "graph_br|', "graph_breaks"),
        ('import os\nos.environ["TORCHINDUCTOR_MAX_AUTOT|', "TORCHINDUCTOR_MAX_AUTOTUNE"),
        ("import torch\ntorch._inductor.config.|", "max_autotune"),
        ("from torch._inductor import config as ic\nic.triton.cuda|", "cudagraphs"),
        ('import torch\n\n@torch.compile(\n    mode="|")\ndef f(x): ...\n', "reduce-overhead"),
        ('import torch\nf = torch.compile(g, backend="aot|")\n', "aot_eager"),
        ('import torch\nf = torch.compile(g, options={"epil|": True})\n', "epilogue_fusion"),
        ("import torch\nf = torch.compile(g, |)\n", "fullgraph"),
        ("import torch._logging\ntorch._logging.set_logs(|)\n", "recompiles"),
    ],
)
async def test_a_completion(editor_with_torch: Editor, root: Path, text: str, label: str) -> None:
    uri = await opened(editor_with_torch, root / "train.py", text.replace("|", ""))
    items = await complete(editor_with_torch, uri, text, "|")
    found = next((item for item in items if item["label"] == label), None)
    assert found is not None, [item["label"] for item in items][:20]
    resolved = await editor_with_torch.request("completionItem/resolve", found)
    assert "torch 2.13" in resolved["documentation"]["value"]


async def test_a_completion_in_a_shell_script(editor_with_torch: Editor, root: Path) -> None:
    text = "export TORCH_LOGS=dynamo,fus\n"
    uri = await opened(editor_with_torch, root / "run.sh", text, "shellscript")
    assert "fusion" in [item["label"] for item in await complete(editor_with_torch, uri, text, "\n")]


WRONG = """\
import os
import torch

os.environ["TORCH_LOGS"] = "graph_brakes"
f = torch.compile(lambda x: x, mode="max-autotun", fullgraph="yes", options={"max_autotun": True})
torch._inductor.config.max_autotune = "x"
torch._dynamo.config.recompile_limitt = 3
"""


async def test_what_is_wrong_and_how_it_is_put_right(editor_with_torch: Editor, root: Path) -> None:
    uri = await opened(editor_with_torch, root / "train.py", WRONG)
    found = await editor_with_torch.published(uri)
    told = {item["message"] for item in found}
    assert told == {
        "torch 2.13.0 has no log 'graph_brakes'. Did you mean 'graph_breaks'?",
        "torch 2.13.0 has no mode 'max-autotun'. Did you mean 'max-autotune'?",
        "'fullgraph' takes bool, not str.",
        "torch 2.13.0 has no option 'max_autotun' in torch._inductor.config. Did you mean 'max_autotune'?",
        "This option takes bool, not str.",
        "torch 2.13.0 has no option 'recompile_limitt' in torch._dynamo.config. Did you mean 'recompile_limit'?",
    }
    first = next(item for item in found if "graph_brakes" in item["message"])
    assert first["range"]["start"] == place(WRONG, "graph_brakes", 0)
    params = {"textDocument": {"uri": uri}, "range": first["range"], "context": {"diagnostics": [first]}}
    actions = await editor_with_torch.request("textDocument/codeAction", params)
    assert actions[0]["title"] == "Change to `graph_breaks`"
    assert actions[0]["edit"]["changes"][uri] == [{"range": first["range"], "newText": "graph_breaks"}]
    fixed = WRONG.replace("graph_brakes", "graph_breaks")
    mark = editor_with_torch.mark()
    await editor_with_torch.change(uri, 2, {"text": fixed})
    assert len(await editor_with_torch.published(uri, since=mark)) == len(found) - 1


async def test_nothing_is_wrong_with_a_right_program(editor_with_torch: Editor, root: Path) -> None:
    uri = await opened(editor_with_torch, root / "train.py", WRONG)
    await editor_with_torch.published(uri)
    mark = editor_with_torch.mark()
    await editor_with_torch.change(uri, 2, {"text": PROGRAM})
    assert await editor_with_torch.published(uri, lambda found: not found, since=mark) == []


async def test_a_name_of_another_release_is_told_as_such(editor_with_torch: Editor, root: Path) -> None:
    text = "export TORCH_LOGS=flex_gemm\n"
    uri = await opened(editor_with_torch, root / "run.sh", text, "shellscript")
    (found,) = await editor_with_torch.published(uri)
    assert found["message"].startswith("torch 2.13.0 has no log 'flex_gemm': it was added in torch 2.14.")


async def test_signature_help(editor_with_torch: Editor, root: Path) -> None:
    text = "import torch\nf = torch.compile(g, fullgraph=|True)\n"
    uri = await opened(editor_with_torch, root / "train.py", text.replace("|", ""))
    params = {"textDocument": {"uri": uri}, "position": place(text, "|", 0)}
    found = await editor_with_torch.request("textDocument/signatureHelp", params)
    (signature,) = found["signatures"]
    assert signature["parameters"][found["activeParameter"]]["label"].startswith("fullgraph: ")
    assert "any graph break an error" in signature["parameters"][found["activeParameter"]]["documentation"]["value"]


@pytest.mark.parametrize(
    ("mark", "offset", "path", "text"),
    [
        ("fusion", 2, "torch/_logging/_registrations.py", '"fusion"'),
        ("epilogue_fusion", 2, "torch/_inductor/config.py", "epilogue_fusion"),
        ("relu", 1, "torch/_inductor/lowering.py", "relu"),
        ("max-autotune", 2, "torch/_inductor/__init__.py", "max-autotune"),
    ],
)
async def test_go_to_definition(
    editor_with_torch: Editor, root: Path, mark: str, offset: int, path: str, text: str
) -> None:
    uri = await opened(editor_with_torch, root / "train.py", PROGRAM)
    params = {"textDocument": {"uri": uri}, "position": place(PROGRAM, mark, offset)}
    found = await editor_with_torch.request("textDocument/definition", params)
    torch = find_torch(sys.executable)
    assert torch is not None
    file = torch.folder.parent / path
    assert found[0]["uri"] == file.as_uri()
    line = found[0]["range"]["start"]["line"]
    assert text in "\n".join(file.read_text().split("\n")[line : line + 3])


async def test_a_code_is_a_link(editor_with_torch: Editor, root: Path) -> None:
    uri = await opened(editor_with_torch, root / "train.py", PROGRAM)
    (link,) = await editor_with_torch.request("textDocument/documentLink", {"textDocument": {"uri": uri}})
    assert link["target"].endswith("gb0059.html")
    assert link["range"]["start"] == place(PROGRAM, "GB0059", 0)


async def test_without_a_cached_table_the_bundled_one_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(root.parent / "empty"))
    async with editor(root.parent) as ed:
        await ed.initialize(root, NEVER)
        uri = await opened(ed, root / "train.py", PROGRAM)
        assert "bundled table" in await hovered(ed, uri, PROGRAM, "graph_breaks")
