"""Names of sizes in configurations of models, and the small values that a run uses instead."""

from __future__ import annotations

import re

# (pattern of a name, size)
SizeTable = tuple[tuple[str, int], ...]

LAYERS: SizeTable = (
    (
        r"(?:.*_)?(?:num_hidden_layers|num_layers|n_layers?|num_encoder_layers|num_decoder_layers|encoder_layers|decoder_layers|num_blocks|depth|layers)",
        2,
    ),
)
VOCABULARIES: SizeTable = ((r"(?:.*_)?(?:vocab_size|vocabulary_size|n_vocab|num_tokens)", 256),)
WIDTHS: SizeTable = (
    (r"(?:.*_)?(?:kv_lora_rank|q_lora_rank|qk_rope_head_dim|qk_nope_head_dim|v_head_dim)", 16),
    (r"(?:.*_)?(?:head_dim|d_kv|d_head)", 16),
    (
        r"(?:.*_)?(?:hidden_size|d_model|dim|n_embd|embed_dim|embedding_size|emb_dim|hidden_dim|width|word_embed_proj_dim|projection_dim)",
        64,
    ),
    (r"(?:.*_)?(?:intermediate_size|ffn_dim|d_ff|d_inner|n_inner|mlp_dim|ffn_hidden_size|feed_forward_size)", 128),
    (r"(?:.*_)?(?:num_attention_heads|n_heads?|num_heads|attention_heads)", 4),
    (r"(?:.*_)?(?:num_key_value_heads|n_kv_heads?|num_kv_heads)", 2),
    (r"(?:.*_)?(?:num_local_experts|num_experts|n_routed_experts)", 4),
)


def smaller_size(name: str, value: int, tables: SizeTable) -> int | None:
    """The size to use for ``name`` instead of ``value``; None if ``tables`` do not name it or ``value`` is small enough."""
    size = next((small for pattern, small in tables if re.fullmatch(pattern, name)), None)
    return size if size is not None and value > size else None
