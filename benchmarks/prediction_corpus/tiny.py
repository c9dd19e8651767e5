"""Models of transformers made tiny: every size of a configuration is brought down, the weights are random."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from transformers import PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

SIZES = {
    "hidden_size": 32,
    "d_model": 32,
    "dim": 32,
    "n_embd": 32,
    "embedding_size": 32,
    "emb_dim": 32,
    "d_embed": 32,
    "word_embed_proj_dim": 32,
    "projection_dim": 32,
    "decoder_hidden_size": 32,
    "intermediate_size": 64,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "ffn_dim": 64,
    "d_ff": 64,
    "d_inner": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_hidden_layers": 2,
    "num_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_local_experts": 4,
    "num_experts": 4,
    "n_routed_experts": 4,
    "vocab_size": 96,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "image_size": 32,
    "patch_size": 8,
    "head_dim": 8,
    "d_kv": 8,
    "d_head": 8,
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
}
TOKENS = 8


def build(model_type: str) -> Any:
    """The base model of this type, in evaluation mode."""
    module = model_type.replace("-", "_")
    configurations = importlib.import_module(f"transformers.models.{module}.configuration_{module}")
    models = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
    config = getattr(configurations, CONFIG_MAPPING_NAMES[model_type])()
    shrink(config)
    torch.manual_seed(0)
    return getattr(models, class_of(model_type))(config).eval()


def class_of(model_type: str) -> str:
    name = MODEL_MAPPING_NAMES[model_type]
    return name if isinstance(name, str) else name[0]


def shrink(config: PretrainedConfig) -> None:
    """Bring down what a configuration says of sizes, and of those configurations inside it."""
    for name, value in list(vars(config).items()):
        if isinstance(value, PretrainedConfig):
            shrink(value)
        elif name in SIZES and isinstance(value, int) and not isinstance(value, bool) and value > SIZES[name]:
            setattr(config, name, SIZES[name])
        elif name.endswith("token_id") and isinstance(value, int) and value >= SIZES["vocab_size"]:
            setattr(config, name, 1)
    layer_types = getattr(config, "layer_types", None)
    if isinstance(layer_types, list):
        config.layer_types = layer_types[: SIZES["num_hidden_layers"]]
    config._attn_implementation = "eager"
    if hasattr(config, "use_cache"):
        config.use_cache = False


def inputs(model: Any) -> dict[str, torch.Tensor]:
    """What the model is called with: by the name of its main input."""
    config = model.config
    name = model.main_input_name
    torch.manual_seed(1)
    if name == "input_ids":
        found = {
            "input_ids": torch.randint(3, 90, (1, TOKENS)),
            "attention_mask": torch.ones(1, TOKENS, dtype=torch.long),
        }
        if getattr(config, "is_encoder_decoder", False):
            found["decoder_input_ids"] = torch.randint(3, 90, (1, TOKENS))
        if hasattr(config, "vision_config"):
            found["pixel_values"] = _image(config.vision_config)
        return found
    if name == "pixel_values":
        return {name: _image(config)}
    if name == "input_values":
        return {name: torch.randn(1, 4000)}
    if name == "input_features":
        bins = getattr(config, "num_mel_bins", 80)
        return {name: torch.randn(1, bins, 64)}
    raise ValueError(f"no input is known for {name}")


def _image(config: Any) -> torch.Tensor:
    size = getattr(config, "image_size", 32)
    size = size if isinstance(size, int) else size[0]
    return torch.randn(1, getattr(config, "num_channels", 3), size, size)
