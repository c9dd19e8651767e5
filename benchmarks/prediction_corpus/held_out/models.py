"""Models of transformers of types that the other part does not have: all that are built and run on tiny inputs within seconds."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.prediction_corpus.models import model_program

_TYPES = """
arcee bert-generation bitnet blenderbot-small camembert chinese_clip cohere convnext convnextv2
dinov2_with_registers dinov3_convnext dinov3_vit dpr ernie ernie4_5 fsmt gemma glm glm4 gpt_neox_japanese granite
granitemoeshared hgnet_v2 ijepa llama markuplm megatron-bert metaclip_2 mistral mlcd mobilenet_v1 mobilenet_v2
mobilevit mt5 olmo2 olmo3 owlv2 pegasus phi phi3 pixtral poolformer pvt_v2 qwen2 qwen3 roberta roberta-prelayernorm
seed_oss smollm3 starcoder2 t5 tapas unispeech vaultgemma visual_bert vit vit_msn voxtral wavlm xglm xlm-roberta
xlm-roberta-xl
"""

MODELS = [replace(model_program(model_type), family="held-out") for model_type in _TYPES.split()]
