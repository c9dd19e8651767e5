"""Models of transformers, one per type: each brings its ``forward``, those of its modules, and their helpers."""

from __future__ import annotations

from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from benchmarks.prediction_corpus.program import Program

_TYPES = """
aimv2 albert altclip apertus bart beit bert big_bird bigbird_pegasus biogpt blenderbot blip bloom canine clip clipseg cohere2 convbert
cpmant ctrl cvt deberta deberta-v2 deit diffllama dinov2 distilbert doge dpt electra ernie4_5_moe exaone4 falcon falcon_mamba flaubert flava
focalnet funnel fuyu gemma2 git glpn gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss granitemoe groupvit helium hubert ibert jetmoe layoutlm led
lfm2 longformer longt5 m2m_100 mamba marian mask2former mixtral minimax mobilebert modernbert moshi mpnet mpt mra mvp nllb-moe nystromformer
olmo opt owlvit pegasus_x persimmon phimoe plbart pvt prophetnet qwen2_moe recurrent_gemma rembert roc_bert roformer segformer sew sew-d
splinter squeezebert stablelm switch_transformers swin2sr swiftformer umt5 unispeech-sat video_llava vit_mae vitdet wav2vec2
wav2vec2-conformer xlm xlnet yoso
"""
# these do more when they train: layers are dropped, spans are masked
_TRAINED = "bart biogpt flaubert hubert led longt5 m2m_100 mbart nllb-moe opt sew switch_transformers unispeech-sat wav2vec2 xlm"


def model_program(model_type: str, trains: bool = False) -> Program:
    """The base model of this type."""
    name = MODEL_MAPPING_NAMES[model_type]
    model_class = name if isinstance(name, str) else name[0]
    folder = model_type.replace("-", "_")
    return Program(
        name=f"transformers {model_type}{' training' if trains else ''}",
        module=f"transformers.models.{folder}.modeling_{folder}",
        region=f"{model_class}(None)",
        setup=(
            "from benchmarks.prediction_corpus import tiny\n"
            f"model = tiny.build({model_type!r})\ninputs = tiny.inputs(model)\n"
            f"model.train({trains})\n"
            "def called(f):\n    with torch.no_grad():\n        return f(**inputs)\n"
        ),
        subject="model",
        call="called(f)",
        family="transformers",
    )


MODELS = [
    *map(model_program, _TYPES.split()),
    *(model_program(model_type, trains=True) for model_type in _TRAINED.split()),
]
