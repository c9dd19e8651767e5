"""A small decoder that looks at its own activations while it runs.

What you should see: the model is compiled in pieces, because of

- `if x.abs().max() > ...`  data-dependent branching: Python must know the answer;
- `hidden.norm().item()`    a tensor that becomes a Python number, and the code after
                            it compiled a second time when that number changes;
- `print(...)`              a call that cannot be part of a graph.

At each of these places the program goes back to Python, in every forward.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

OVERFLOW_LIMIT = 1e4


class CausalSelfAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (
            t.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for t in (q, k, v)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(attended.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.gate = nn.Linear(width, 4 * width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class DecoderBlock(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = CausalSelfAttention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        # Guard against overflow in half precision.
        if x.abs().max() > OVERFLOW_LIMIT:
            x = x.clamp(-OVERFLOW_LIMIT, OVERFLOW_LIMIT)
        return x + self.feed_forward(self.feed_forward_norm(x))


class Decoder(nn.Module):
    def __init__(self, vocabulary=256, width=64, heads=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.first = DecoderBlock(width, heads)
        self.second = DecoderBlock(width, heads)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        hidden = self.first(hidden)
        hidden = self.second(hidden)
        norm = hidden.norm().item()
        print(f"norm of the hidden state: {norm:.2f}")
        return self.head(self.norm(hidden))


def main():
    torch.manual_seed(0)
    model = torch.compile(Decoder().eval())
    with torch.inference_mode():
        for _ in range(3):
            logits = model(torch.randint(0, 256, (2, 16)))
    print("logits:", tuple(logits.shape))


if __name__ == "__main__":
    main()
