"""Regions of models of transformers, each called once as its users call it. Arguments are the numbers of those to call."""

import sys

import torch
import transformers

torch.manual_seed(0)
D = {
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 32,
    "vocab_size": 32,
    "max_position_embeddings": 32,
}
E = {
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 32,
    "vocab_size": 32,
    "max_position_embeddings": 32,
}
T = torch.randint(3, 32, (1, 6))


def compiled(model):
    return torch.compile(model.eval(), backend="eager")


def filled(model):
    cache = transformers.DynamicCache()
    with torch.no_grad():
        model(T, past_key_values=cache, use_cache=True)
    return cache


RUNS = []


def run(make):
    RUNS.append(make)


run(
    lambda: compiled(
        transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32, n_positions=32)
        )
    )(T, labels=T)
)
llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(**D)).eval()
run(lambda: compiled(llama)(T, attention_mask=torch.ones(1, 6, dtype=torch.long)))
run(lambda: compiled(llama)(T[:, :1], past_key_values=filled(llama), use_cache=True))
run(lambda: compiled(llama.model.layers[0].mlp)(torch.randn(1, 6, 16)))
run(
    lambda: compiled(llama.model.layers[0])(
        torch.randn(1, 6, 16),
        attention_mask=None,
        position_ids=torch.arange(6)[None],
        position_embeddings=(torch.randn(1, 6, 8), torch.randn(1, 6, 8)),
    )
)
run(
    lambda: compiled(transformers.BertForMaskedLM(transformers.BertConfig(**E)))(
        T, attention_mask=torch.tensor([[1, 1, 1, 1, 0, 0]])
    )
)
run(
    lambda: compiled(
        transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                num_layers=1, d_model=16, d_kv=8, d_ff=32, num_heads=2, vocab_size=32, decoder_start_token_id=0
            )
        )
    )(input_ids=T, labels=T)
)
run(lambda: compiled(transformers.Gemma2ForCausalLM(transformers.Gemma2Config(**D, head_dim=8, sliding_window=4)))(T))
run(lambda: compiled(transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**D)))(inputs_embeds=torch.randn(1, 6, 16)))
run(lambda: compiled(transformers.MistralForCausalLM(transformers.MistralConfig(**D)))(T, output_hidden_states=True))
run(
    lambda: compiled(
        transformers.ViTModel(
            transformers.ViTConfig(
                num_hidden_layers=1,
                num_attention_heads=2,
                hidden_size=16,
                intermediate_size=32,
                image_size=8,
                patch_size=4,
            )
        )
    )(torch.randn(1, 3, 8, 8))
)
run(
    lambda: compiled(
        transformers.ResNetModel(transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1]))
    )(torch.randn(1, 3, 16, 16).to(memory_format=torch.channels_last))
)
run(
    lambda: compiled(
        transformers.DistilBertModel(
            transformers.DistilBertConfig(n_layers=1, n_heads=2, dim=16, hidden_dim=32, vocab_size=32)
        )
    )(T, return_dict=False)
)
run(lambda: compiled(transformers.RobertaModel(transformers.RobertaConfig(**E)))(T, token_type_ids=None))
run(
    lambda: compiled(
        transformers.OPTForCausalLM(
            transformers.OPTConfig(
                num_hidden_layers=1,
                num_attention_heads=2,
                hidden_size=16,
                ffn_dim=32,
                vocab_size=32,
                max_position_embeddings=32,
                word_embed_proj_dim=16,
            )
        )
    )(T)
)
run(
    lambda: compiled(
        transformers.WhisperModel(
            transformers.WhisperConfig(
                vocab_size=32,
                num_mel_bins=8,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                d_model=16,
                encoder_ffn_dim=32,
                decoder_ffn_dim=32,
                max_source_positions=8,
                max_target_positions=8,
                pad_token_id=0,
                bos_token_id=1,
                eos_token_id=2,
                decoder_start_token_id=1,
            )
        ).encoder
    )(torch.randn(1, 8, 16))
)
run(
    lambda: compiled(transformers.CLIPTextModel(transformers.CLIPTextConfig(**E)))(
        T, attention_mask=torch.ones(1, 6, dtype=torch.long)
    )
)
run(lambda: compiled(transformers.ElectraModel(transformers.ElectraConfig(**E, embedding_size=16)))(T))
run(
    lambda: compiled(transformers.PhiForCausalLM(transformers.PhiConfig(**D)).half().float())(
        T, position_ids=torch.arange(6)[None]
    )
)


def bert_layer():
    from transformers.models.bert.modeling_bert import BertLayer

    return compiled(BertLayer(transformers.BertConfig(**E, attn_implementation="eager")))(
        torch.randn(1, 6, 16),
        attention_mask=torch.zeros(1, 1, 1, 6).masked_fill(torch.tensor([0, 0, 0, 0, 1, 1]).bool(), float("-inf")),
    )


run(bert_layer)
run(
    lambda: compiled(llama)(
        T[:, :1],
        past_key_values=transformers.StaticCache(config=llama.config, max_cache_len=8),
        cache_position=torch.tensor([0]),
    )
)
chosen = {int(number) for number in sys.argv[1:]}
for number, make in enumerate(RUNS, 1):
    if chosen and number not in chosen:
        continue
    with torch.no_grad():
        make()
    torch._dynamo.reset()
