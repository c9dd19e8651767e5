"""Repairs models of ``transformers``: their source as the program, a small configuration, random weights, ``compile-lens fix --all``.

``python -m benchmarks.repairs.models`` keeps what came of them in benchmarks/results/repairs-models.jsonl.
``python -m benchmarks.repairs --page`` puts it into the page.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.repairs.kept import alone, this_version
from benchmarks.repairs.plain import graph_breaks
from benchmarks.repairs.programs import ROOT

KEPT = ROOT / "benchmarks" / "results" / "repairs-models.jsonl"
TIMEOUT_S = 1500
_RELATIVE = re.compile(r"^(\s*from )(\.+)(\w*)", re.MULTILINE)
SMALL = "vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64"
BART = (
    "vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, "
    "decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64"
)
TOKENS = "torch.randint(5, 60, (2, 16))"


@dataclass(frozen=True, slots=True)
class Model:
    """One model: the module of its source below ``transformers.models``, and how it is built and called."""

    name: str
    does: str
    module: str
    build: str
    call: str


MODELS = (
    Model(
        "Longformer",
        "text",
        "longformer.modeling_longformer",
        f"LongformerModel(LongformerConfig({SMALL}, attention_window=[4, 4], max_position_embeddings=64))",
        f"model({TOKENS}, attention_mask=torch.ones(2, 16, dtype=torch.long))",
    ),
    Model(
        "FSMT",
        "text, translation",
        "fsmt.modeling_fsmt",
        'FSMTModel(FSMTConfig(langs=["en", "de"], src_vocab_size=64, tgt_vocab_size=64, '
        f"{BART.removeprefix('vocab_size=64, ').removesuffix(', max_position_embeddings=64')}))",
        f"model({TOKENS}, attention_mask=torch.ones(2, 16, dtype=torch.long))",
    ),
    Model(
        "Qwen2-MoE",
        "text, mixture of experts",
        "qwen2_moe.modeling_qwen2_moe",
        f"Qwen2MoeForCausalLM(Qwen2MoeConfig({SMALL}, num_key_value_heads=2, num_experts=4, moe_intermediate_size=16, "
        "shared_expert_intermediate_size=16))",
        f"model({TOKENS})",
    ),
    Model(
        "BART",
        "text, classification",
        "bart.modeling_bart",
        f"BartForSequenceClassification(BartConfig({BART}, eos_token_id=2, pad_token_id=1))",
        f"model(torch.cat([{TOKENS}, torch.full((2, 1), 2)], 1))",
    ),
    Model(
        "EnCodec",
        "audio, codec",
        "encodec.modeling_encodec",
        "EncodecModel(EncodecConfig(num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16, "
        "upsampling_ratios=[2, 2], num_lstm_layers=1))",
        "model(torch.randn(1, 1, 400))",
    ),
    Model(
        "VITS",
        "speech, synthesis",
        "vits.modeling_vits",
        "VitsModel(VitsConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, "
        "flow_size=16, spectrogram_bins=16, upsample_initial_channel=16, upsample_rates=[2, 2], "
        "upsample_kernel_sizes=[4, 4], duration_predictor_filter_channels=16, wavenet_dilation_rate=1, "
        "posterior_encoder_num_wavenet_layers=1, prior_encoder_num_flows=2))",
        f"model({TOKENS})",
    ),
    Model(
        "SuperPoint",
        "vision, detection of key points",
        "superpoint.modeling_superpoint",
        "SuperPointForKeypointDetection(SuperPointConfig(encoder_hidden_sizes=[8, 8, 8, 8], decoder_hidden_size=16, "
        "keypoint_decoder_dim=65, descriptor_decoder_dim=16))",
        "model(torch.randn(1, 3, 64, 64))",
    ),
    Model(
        "LLaVA",
        "vision and text",
        "llava.modeling_llava",
        "LlavaForConditionalGeneration(LlavaConfig("
        f'text_config=dict(model_type="llama", {SMALL}, num_key_value_heads=2), '
        'vision_config=dict(model_type="clip_vision_model", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, '
        "intermediate_size=64, image_size=64, patch_size=16, projection_dim=32), image_token_index=63, vision_feature_layer=-1))",
        "model(torch.cat([torch.full((1, 16), 63), torch.randint(5, 60, (1, 8))], 1), pixel_values=torch.randn(1, 3, 64, 64))",
    ),
)


@dataclass
class Repaired:
    """What came of a model. ``breaks`` and ``graphs`` are those before, with fixes that lose nothing, and with those that do, too.

    ``logged`` are the places of breaks in torch's own log; it names each once. ``results`` are words of the last comparison.
    """

    name: str
    does: str
    breaks: tuple[int, int, int]
    logged: tuple[str, str, str]
    seconds: float
    results: str
    fixes: list[str]
    remains: list[str]
    versions: str
    commit: str = ""
    day: str = ""


def source_of(model: Model) -> str:
    """A program: the model's source as it is installed, without relative imports, and a compiled call."""
    package = f"transformers.models.{model.module.rpartition('.')[0]}"
    spec = importlib.util.find_spec(f"transformers.models.{model.module}")
    if spec is None or spec.origin is None:
        raise SystemExit(f"transformers has no {model.module}; install transformers 4.57.")
    text = Path(spec.origin).read_text(encoding="utf-8")

    def absolute(match: re.Match[str]) -> str:
        parents = package.split(".")[: len(package.split(".")) + 1 - len(match[2])]
        return f"{match[1]}{'.'.join(parents)}{'.' if match[3] else ''}{match[3]}"

    return (
        f"{_RELATIVE.sub(absolute, text).rstrip()}\n\n\n"
        f"torch.manual_seed(0)\nmodel = {model.build}.eval()\n"
        f'model = torch.compile(model, backend="eager")\nwith torch.no_grad():\n    {model.call}\n'
    )


def repair(model: Model, folder: Path) -> Repaired:
    """Run the command on a copy of a model's source, without and with loss, and what it wrote with a plain torch."""
    # transformers reads the name of a model from the path of its source
    file = folder / "models" / model.module.partition(".")[0] / f"{model.module.rpartition('.')[2]}.py"
    file.parent.mkdir(parents=True)
    text = source_of(model)
    file.write_text(text, encoding="utf-8")
    first = graph_breaks(text, file)
    started = time.monotonic()
    lossless = _fix(file)
    seconds = time.monotonic() - started
    second = graph_breaks(file.read_text(encoding="utf-8"), file)
    lossy = _fix(file, "--with-loss") if lossless["counts"]["breaks"][1] else lossless
    steps = [*lossless["steps"], *(lossy["steps"] if lossy is not lossless else [])]
    code = this_version()
    words = [", ".join(step["words"].partition("results")[1:]) for step in steps]
    return Repaired(
        model.name,
        model.does,
        (*lossless["counts"]["breaks"], lossy["counts"]["breaks"][1]),
        (first, second, graph_breaks(file.read_text(encoding="utf-8"), file)),
        round(seconds, 1),
        words[-1].replace(", ", "", 1) if words else "",
        [step["rule"] for step in steps],
        [f"{left['code']}: {left['why']}" for left in lossy["remaining"] if left["kind"] == "graph-break"],
        f"torch {version('torch')}, transformers {version('transformers')}",
        code.commit,
        code.day,
    )


def _fix(file: Path, *options: str) -> dict[str, Any]:
    """What ``compile-lens fix --all --write`` says as JSON."""
    command = [sys.executable, "-m", "compile_lens", "fix", str(file), "--all", "--write", "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if not done.stdout.strip():
        raise SystemExit(f"{file.name}: {done.stderr.strip()}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def kept() -> list[dict[str, Any]]:
    """What came of each model when it was last repaired."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    known = {row["name"]: row for row in map(json.loads, lines)}
    return [known[model.name] for model in MODELS if model.name in known]


def keep(repaired: Repaired) -> None:
    """Put a model's row in the place of the one that is there."""
    new = asdict(repaired)
    with alone(KEPT.parent):
        rows = {**{row["name"]: row for row in kept()}, repaired.name: new}
        lines = [json.dumps(rows[model.name], ensure_ascii=False) for model in MODELS if model.name in rows]
        KEPT.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs.models", description=__doc__)
    parser.add_argument("--only", default="", help="Models whose name contains this.")
    options = parser.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    for each in MODELS:
        if options.only in each.name:
            with tempfile.TemporaryDirectory() as scratch:
                row = repair(each, Path(scratch))
            keep(row)
            print(row)
