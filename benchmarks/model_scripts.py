"""Scripts that compile a tiny model of ``transformers`` with random weights, as somebody writes who tries it; nothing is downloaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

DECODER = (
    "num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, hidden_size=32, intermediate_size=64, "
    "vocab_size=64, max_position_embeddings=64"
)
CLASS = re.compile(r"\b[A-Z]\w*(?=\()")
TOKENS = "torch.randint(3, 64, (1, 8))"


@dataclass(frozen=True, slots=True)
class Model:
    """How to build one, and how to call it. ``breaks`` and ``fails``: what torch 2.13 does with it."""

    name: str
    build: str
    call: str = f"model({TOKENS})"
    breaks: bool = False
    fails: bool = False
    compiled: str = "model = torch.compile(model)"


MODELS = [
    Model("gpt2", "GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=64, n_positions=32))"),
    Model("llama", f"LlamaForCausalLM(LlamaConfig({DECODER}))"),
    Model("mixtral", f"MixtralForCausalLM(MixtralConfig({DECODER}, num_local_experts=4))", breaks=True),
    Model(
        "qwen2_moe",
        f"Qwen2MoeForCausalLM(Qwen2MoeConfig({DECODER}, num_experts=4, moe_intermediate_size=32,"
        " shared_expert_intermediate_size=32))",
        breaks=True,
    ),
    Model("gemma2", f"Gemma2ForCausalLM(Gemma2Config({DECODER}, head_dim=16, sliding_window=4))"),
    Model(
        "mamba",
        "MambaForCausalLM(MambaConfig(num_hidden_layers=2, hidden_size=32, vocab_size=64, state_size=4))",
        fails=True,
    ),
    Model(
        "bert",
        "BertForMaskedLM(BertConfig(num_hidden_layers=2, num_attention_heads=2, hidden_size=32, intermediate_size=64,"
        " vocab_size=64, max_position_embeddings=32))",
        f"model({TOKENS}, attention_mask=torch.ones(1, 8, dtype=torch.long))",
    ),
    Model(
        "t5",
        "T5ForConditionalGeneration(T5Config(num_layers=2, d_model=32, d_kv=16, d_ff=64, num_heads=2, vocab_size=64,"
        " decoder_start_token_id=0))",
        f"model(input_ids={TOKENS}, labels={TOKENS})",
    ),
    Model(
        "whisper",
        "WhisperForConditionalGeneration(WhisperConfig(vocab_size=64, num_mel_bins=8, encoder_layers=2,"
        " decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, d_model=32, encoder_ffn_dim=64,"
        " decoder_ffn_dim=64, max_source_positions=16, max_target_positions=16, pad_token_id=0, bos_token_id=1,"
        " eos_token_id=2, decoder_start_token_id=1))",
        "model(input_features=torch.randn(1, 8, 32), decoder_input_ids=torch.randint(3, 64, (1, 4)))",
    ),
    Model(
        "vit",
        "ViTForImageClassification(ViTConfig(num_hidden_layers=2, num_attention_heads=2, hidden_size=32,"
        " intermediate_size=64, image_size=32, patch_size=8))",
        "model(torch.randn(1, 3, 32, 32))",
    ),
    Model(
        "llama_generate",
        f"LlamaForCausalLM(LlamaConfig({DECODER}))",
        f"model.generate({TOKENS}, max_new_tokens=3, do_sample=False, pad_token_id=0)",
        compiled="model.forward = torch.compile(model.forward)",
    ),
]


def script_of(model: Model) -> str:
    classes = ", ".join(CLASS.findall(model.build))
    return dedent(
        f"""\
        import torch
        from transformers import {classes}

        torch.manual_seed(0)
        model = {model.build}.eval()
        {model.compiled}
        with torch.no_grad():
            for _ in range(2):
                {model.call}
        """
    )
