"""Repros of 20 regions of real models: transformers with tiny configurations, and inputs as their users give them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from repros import captured, run_all

from compile_lens.analysis.outcome import Status
from compile_lens.repro.capture import calls_for
from compile_lens.repro.contract import ExitCode
from compile_lens.repro.expectation import expect
from compile_lens.repro.source import write_source
from warm_host import WarmHost

pytestmark = [
    pytest.mark.models,
    pytest.mark.xdist_group("repros"),
    # not imported here: each worker would, when it collects the tests
    pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="runs models of transformers"),
]
PROGRAM = Path(__file__).with_name("programs") / "models.py"
REGIONS = 20
FAMILIES = "llama bert t5 qwen2 resnet"
OTHERS = "gpt2 gemma2 mistral vit distilbert roberta opt whisper clip electra phi"
# with a mask, with a cache, layers of models, with labels, with embeddings for tokens, and with other layouts
RUN = (2, 3, 5, 7, 9, 12, 20)


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_each_region_of_a_model_runs_in_a_new_process(tmp_path: Path, warm_host: WarmHost, all_of_them: bool) -> None:
    chosen = () if all_of_them else tuple(map(str, RUN))
    outcome, report, regions = captured(warm_host, PROGRAM, chosen)
    assert outcome.status is Status.OK, outcome.output
    assert len(regions) >= REGIONS if all_of_them else len(regions) == len(RUN)
    files = []
    for region in regions:
        # no problem is known: the compiled code must do what eager does, with the inputs of the run
        script = write_source(region, calls_for(region, (), False), expect(None, report))
        files.append(tmp_path / f"region_{region.number}.py")
        files[-1].write_text(script.body)
    text = "\n".join(file.read_text() for file in files)
    for kind in (
        "rebuilt(transformers.DynamicCache",
        "attention_mask",
        "None",
        ".to(memory_format=torch.channels_last)",
    ):
        assert kind in text
    families = f"{FAMILIES} {OTHERS}" if all_of_them else FAMILIES
    modules = [f"transformers.models.{family}.modeling_{family}" for family in families.split()]
    ended = run_all([(file, "eager") for file in files], tmp_path / "cache", modules)
    for file, (code, said) in zip(files, ended, strict=True):
        assert code == ExitCode.GOOD, f"{file.name}: {said}\n{file.read_text()[:3000]}"
