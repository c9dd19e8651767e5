"""Calls of torch's operators with wrong inputs, and what the words of their errors require (agent/inputs/synthesis/errors/messages.py).

`python -m tests.entries.operator_errors` prints what the installed torch says, and the requirements that are read of it: another
version may use other words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from tests.entries.agent_package import agent_module

# `->`: of real tensors and of those without memory; `~>`: of real ones alone, since the others have no numbers
WRONG = """
nn.Conv2d(4, 8, 3, padding=2, padding_mode="circular")(floats(2, 4, 1, 1)) -> larger
F.conv2d(floats(2, 4, 8, 8), floats(4, 4, 3, 3), groups=3) -> size 4 6
nn.Bilinear(4, 5, 8)(floats(2, 4), floats(2, 6)) -> size 6 5
nn.Bilinear(4, 5, 8)(floats(2, 6), floats(2, 5)) -> size 6 4
nn.EmbeddingBag(8, 4)(ints(2, 3, 3)) -> rank 2
nn.EmbeddingBag(8, 4)(ints(6)) -> rank 1
nn.EmbeddingBag(8, 4)(ints(2, 3), ints(2)) -> rank 2
nn.LayerNorm([3, 4])(floats(2, 4)) -> size 2 3
nn.RMSNorm(4)(floats(2, 5)) -> size 5 4
nn.GroupNorm(2, 4)(floats(2, 6, 3)) -> size 6 4
nn.GroupNorm(2, 4)(floats(2, 5, 3)) -> size 5 6
nn.GroupNorm(3, 9)(floats(2, 4, 3)) -> size 4 6
nn.MaxPool1d(2)(floats(2, 3, 4, 4)) -> rank 3
nn.MaxPool2d(2)(floats(2, 3)) -> rank 4
nn.MaxPool3d(2)(floats(2, 3)) -> rank 5
nn.AvgPool1d(2)(floats(2, 3, 4, 4)) -> rank 3
nn.AvgPool3d(4)(floats(2, 2)) -> rank 5
nn.AdaptiveAvgPool1d(2)(floats(2, 3, 4, 4)) -> rank 3
nn.AdaptiveAvgPool2d(2)(floats(2, 3)) -> rank 4
nn.AdaptiveMaxPool2d(2)(floats(2, 3)) -> rank 4
nn.AdaptiveAvgPool3d(2)(floats(2, 3)) -> rank 5
nn.FractionalMaxPool2d(3, output_size=4)(floats(2, 3, 2, 2)) -> larger
F.interpolate(floats(2, 3, 4), scale_factor=2, mode="bilinear") -> rank 4
F.interpolate(floats(2, 3, 4, 4), scale_factor=2, mode="linear") -> rank 3
F.interpolate(floats(2, 3, 4, 4), scale_factor=2, mode="trilinear") -> rank 5
F.pad(floats(2, 3, 4), (5, 5), mode="circular") -> larger
nn.Fold((8, 8), 2, stride=2)(floats(2, 12, 15)) -> size 15 16
nn.Fold((8, 8), 2, stride=2)(floats(2, 13, 16)) -> size 13 16
nn.Fold((8, 8), 2, stride=2)(floats(2, 12, 4, 4)) -> rank 3
nn.ChannelShuffle(2)(floats(2, 5, 3, 3)) -> size 5 6
F.grid_sample(floats(2, 3, 4, 4), floats(2, 5, 5, 3)) -> size 3 2
F.grid_sample(floats(2, 3, 4, 4), floats(2, 5, 5)) ~> size 5 2
F.grid_sample(floats(2, 3, 4, 4), floats(3, 5, 5, 2)) ~> size 3 2
F.grid_sample(floats(2, 3, 4), floats(2, 5, 2)) -> size 2 1
nn.GRUCell(4, 8)(floats(2, 4), floats(3, 8)) -> size 3 2
nn.MultiheadAttention(8, 2)(floats(5, 2, 8), floats(6, 2, 8), floats(6, 2, 8), key_padding_mask=flags(6, 2)) -> size 6 2
F.scaled_dot_product_attention(floats(2, 4, 8), floats(2, 5, 7), floats(2, 5, 8)) -> size 7 8
F.scaled_dot_product_attention(floats(2, 4, 8), floats(2, 5, 8), floats(2, 6, 8)) -> size 6 5
F.cross_entropy(floats(4, 3), ints(5)) -> size 5 4
F.cross_entropy(floats(4, 3, 8, 8), ints(4, 8)) ~> rank 3
F.cross_entropy(floats(4, 3, 8, 8), ints(4, 7, 7)) ~> size 7 8
F.cross_entropy(floats(4, 3), floats(4, 2)) -> rank 1
F.cross_entropy(floats(4, 3), flags(4)) ~> dtype int64
F.cross_entropy(floats(4, 3), ints(4, 1)) -> rank 1
F.cross_entropy(floats(4, 3), ints(4), torch.ones(4)) -> size 4 3
F.nll_loss(floats(4, 3), ints(5)) -> size 5 4
F.nll_loss(floats(4, 3), ints(4, 1)) -> rank 1
F.nll_loss(floats(4), ints(4)) ~> rank 2
F.binary_cross_entropy(torch.rand(4), ints(4)) ~> dtype float32
F.ctc_loss(floats(9, 2, 5), torch.ones(2, 3, dtype=torch.int64), floats(2), torch.full((2,), 3)) ~> dtype int64
F.ctc_loss(floats(9, 2, 5), torch.ones(2, 3, dtype=torch.int64), torch.full((2,), 12), torch.full((2,), 3)) ~> positive
F.ctc_loss(floats(9, 2, 5), torch.ones(2, 3, dtype=torch.int64), torch.full((3,), 9), torch.full((2,), 3)) ~> positive
F.ctc_loss(floats(9, 2, 5), torch.ones(2, 3, dtype=torch.int64), torch.full((2,), 9), torch.full((2,), 7)) ~> bound 3 7
F.multilabel_margin_loss(floats(4, 3), ints(4, 2)) -> size 3 2
torch.where(floats(4), floats(4), floats(4)) -> dtype bool
floats(4, 3).unflatten(1, (2, 2)) -> size 3 4
floats(4, 3, 2).t() -> rank 2
ints(4, 3).mean() -> dtype float32
floats(4, 3).split([2, 2], 1) -> size 3 4
floats(4, 3).kthvalue(5) -> larger
floats(4, 3).repeat_interleave(torch.ones(5, dtype=torch.int64), 0) -> size 4 5
floats(2, 4, 3) @ floats(2, 4, 3) -> size 4 3
floats(3) @ floats(4) -> size 4 3
floats(4, 3) @ floats(4) -> size 4 3
torch.mm(floats(4, 3), floats(2, 4, 3)) -> rank 2
torch.mv(floats(4, 3), floats(4)) -> size 4 3
torch.mv(floats(4, 3), floats(2, 3, 3)) -> rank 1
torch.dot(floats(4), floats(3)) -> size 3 4
torch.outer(floats(4, 3), floats(4)) -> rank 1
torch.bmm(floats(2, 4, 3), floats(2, 4, 3)) -> size 4 3
torch.bmm(floats(4, 3), floats(2, 4, 3)) -> rank 3
torch.bmm(floats(2, 4, 3), floats(3, 3, 4)) -> size 3 2
torch.baddbmm(floats(2, 4, 3), floats(2, 4, 3), floats(2, 4, 3)) -> size 4 3
torch.cross(floats(4, 5), floats(4, 5), dim=-1) -> size 5 3
torch.cdist(floats(4, 3), floats(4, 2)) -> size 2 3
torch.tensordot(floats(4, 3), floats(4, 3), 1) -> size 4 3
F.gumbel_softmax(ints(4)) -> dtype float32
F.glu(floats(4, 3)) -> size 3 4
F.prelu(floats(2, 4, 3), floats(5)) -> size 4 5
nn.PReLU(5)(floats(2, 4, 3)) -> size 4 5
torch.linalg.inv(floats(4, 3)) -> size 3 4
torch.linalg.det(floats(4, 3)) -> size 3 4
torch.linalg.cholesky(floats(4, 3)) -> size 3 4
torch.linalg.eigh(floats(4, 3)) -> size 3 4
torch.linalg.matrix_exp(floats(4, 3)) -> size 3 4
torch.linalg.inv(ints(3, 3)) -> dtype float32
torch.linalg.norm(ints(3)) -> dtype float32
torch.trace(floats(2, 3, 3)) -> rank 2
torch.diag(floats(2, 3, 3)) -> rank 2
torch.logdet(floats(4, 3)) -> size 3 4
torch.fft.irfft(floats(4, 1, dtype=torch.complex64)) -> larger
torch.stft(floats(2, 3, 400), 64, window=torch.hann_window(64), return_complex=True) -> rank 2
torch.stft(ints(2, 400), 64, window=torch.hann_window(64), return_complex=True) -> dtype float32
torch.polar(floats(2, 3), ints(2, 3)) -> dtype float32
torch.searchsorted(floats(2, 3), floats(3, 3)) -> rank 1
torch.bucketize(floats(2, 3), floats(2, 3)) ~> rank 1
torch.multinomial(torch.rand(4, 3), 5) ~> larger
torch.multinomial(torch.rand(4, 3, 3), 1) -> rank 2
torch.quantile(ints(4), 0.5) -> dtype float32
torch.lerp(floats(4), floats(4), ints(4)) -> dtype float32
torch.bitwise_and(floats(4), floats(4)) ~> dtype bool
~floats(4) -> dtype bool
floats(4) & floats(4) ~> dtype bool
torch.block_diag(floats(2, 3, 4)) -> rank 2
torch.combinations(floats(2, 2)) -> rank 1
torch.meshgrid(floats(2, 2), floats(2), indexing="ij") ~> rank 1
torch.vander(floats(2, 2)) -> rank 1
torch.gradient(floats(1)) -> larger
F.kl_div(floats(4, 3), nn.Identity()) -> tensor
F.linear(nn.Identity(), floats(3, 3)) -> tensor
nn.Conv1d(4, 8, 3)(floats(2, 5, 16)) -> size 5 4
nn.Conv1d(4, 8, 3)(floats(2, 4, 16, 16)) -> more-dims -1
nn.Conv1d(4, 8, 3)(floats(2, 4, 2)) -> larger
nn.Conv1d(4, 8, 3)(ints(2, 4, 16)) -> dtype float32
nn.Conv2d(4, 8, 3)(floats(2, 5, 16, 16)) -> size 5 4
nn.Conv2d(4, 8, 3)(floats(2, 4)) -> more-dims 2
nn.Conv2d(4, 8, 3)(floats(2, 4, 16, 16, 16)) -> more-dims -1
nn.Conv2d(4, 8, 3)(floats(2, 4, 2, 2)) -> larger
nn.Conv2d(4, 8, 3, padding=2, padding_mode="reflect")(floats(2, 4, 1, 1)) -> larger
nn.Conv3d(4, 8, 3)(floats(2, 5, 8, 8, 8)) -> size 5 4
nn.Conv3d(4, 8, 3)(floats(2, 4, 8)) -> more-dims 2
nn.ConvTranspose1d(4, 8, 3)(floats(2, 5, 16)) -> size 5 4
nn.ConvTranspose1d(4, 8, 3)(floats(2, 4, 4, 4)) -> rank 3
nn.ConvTranspose2d(4, 8, 3)(floats(2, 5, 16, 16)) -> size 5 4
nn.ConvTranspose2d(4, 8, 3)(floats(2, 4)) -> rank 4
nn.ConvTranspose3d(4, 8, 3)(floats(2, 4)) -> rank 5
F.conv2d(floats(2, 4, 8, 8), floats(3, 5, 3, 3)) -> size 4 5
nn.Linear(4, 8)(floats(2, 3, 5)) -> size 5 4
nn.Linear(4, 8)(floats(2, 5)) -> size 5 4
nn.Linear(4, 8)(floats(5)) -> size 5 4
nn.Linear(4, 8)(ints(2, 4)) ~> dtype float32
nn.Linear(4, 8)(floats(2, 4, dtype=torch.float64)) ~> dtype float64
nn.Linear(4, 8)(flags(2, 4)) ~> dtype float32
nn.Embedding(8, 4)(floats(2, 3)) -> dtype int64
nn.Embedding(8, 4)(torch.full((2, 3), 9)) ~> below 8
nn.EmbeddingBag(8, 4)(ints(6), floats(2)) -> dtype int64
nn.BatchNorm1d(4)(floats(2, 5)) -> size 5 4
nn.BatchNorm1d(4)(floats(2, 4, 3, 3)) -> rank 3
nn.BatchNorm1d(4)(floats(1, 4)) -> batch
nn.BatchNorm2d(4)(floats(2, 5, 3, 3)) -> size 5 4
nn.BatchNorm2d(4)(floats(2, 4)) -> rank 4
nn.BatchNorm2d(4)(floats(1, 4, 1, 1)) -> batch
nn.BatchNorm3d(4)(floats(2, 4, 3, 3)) -> rank 5
nn.LayerNorm(4)(floats(2, 5)) -> size 5 4
nn.LayerNorm(4)(ints(2, 4)) -> dtype float32
nn.InstanceNorm1d(4, affine=True)(floats(2, 5, 8)) -> size 5 4
nn.InstanceNorm1d(4)(floats(2, 4, 8, 8)) -> rank 3
nn.InstanceNorm2d(4)(floats(2, 4)) -> rank 4
nn.InstanceNorm2d(4)(floats(2, 4, 1, 1)) -> larger
nn.InstanceNorm3d(4)(floats(2, 4, 3)) -> rank 5
F.batch_norm(floats(2, 4, 3), torch.zeros(5), torch.ones(5)) -> size 4 5
F.layer_norm(floats(2, 4), (4,), floats(5)) -> alike 5|4
nn.MaxPool2d(4)(floats(2, 3, 2, 2)) -> larger
nn.AvgPool2d(4)(floats(2, 3, 2, 2)) -> larger
nn.AvgPool2d(4)(floats(2)) -> rank 3
nn.LPPool2d(2, 4)(floats(2, 3, 2, 2)) -> larger
F.interpolate(floats(2, 3, 4, 4), size=(4, 4, 4)) -> more-dims 1
F.interpolate(floats(3, 4), scale_factor=2) -> rank 4
F.interpolate(ints(2, 3, 4, 4), scale_factor=2, mode="bilinear") ~> dtype float32
F.pad(floats(2, 3, 4), (5, 5), mode="reflect") -> larger
F.pad(floats(2, 3, 4, 4), (5, 5, 5, 5), mode="reflect") -> larger
F.pad(floats(3, 4), (1, 1, 1, 1), mode="reflect") -> rank 4
nn.Unfold(3)(floats(2, 4)) -> rank 3
nn.PixelShuffle(2)(floats(2, 6, 3, 3)) ~> size 6 8
nn.PixelShuffle(2)(floats(4, 4)) ~> rank 3
nn.PixelUnshuffle(2)(floats(2, 6, 3, 3)) ~> size 3 4
nn.RNN(4, 8)(floats(5, 2, 3, 3)) -> more-dims -1
nn.GRU(4, 8)(floats(5, 2, 4), floats(2, 2, 8)) -> shape hx 1, 2, 8
nn.GRU(4, 8)(floats(5, 2, 4), floats(1, 3, 8)) -> shape hx 1, 2, 8
nn.GRU(4, 8)(floats(5, 2, 4), floats(1, 8)) -> more-dims 1
nn.LSTM(4, 8)(floats(5, 2, 3)) -> size 4 3
nn.LSTM(4, 8)(floats(5, 2, 4), (floats(1, 2, 7), floats(1, 2, 8))) -> shape hx 1, 2, 8
nn.LSTM(4, 8)(floats(5, 2, 4), (floats(2, 8), floats(2, 8))) -> more-dims 1
nn.LSTMCell(4, 8)(floats(2, 3)) -> size 3 4
nn.LSTMCell(4, 8)(floats(2, 5, 4)) -> more-dims -1
nn.GRUCell(4, 8)(floats(2, 3)) -> size 3 4
nn.GRUCell(4, 8)(floats(2, 4), floats(2, 7)) -> size 7 8
nn.GRUCell(4, 8)(floats(2, 4), floats(1, 2, 8)) -> rank 2
nn.utils.rnn.pack_padded_sequence(floats(5, 2, 4), torch.tensor([0, 0])) ~> positive
nn.utils.rnn.pack_padded_sequence(floats(5, 2, 4), torch.tensor([5, 4, 3])) ~> size 3 2
nn.MultiheadAttention(8, 2)(floats(5, 2, 7), floats(5, 2, 7), floats(5, 2, 7)) -> size 7 8
nn.MultiheadAttention(8, 2)(floats(5, 2, 8), floats(6, 2, 8), floats(7, 2, 8)) -> alike 6, 2, 8|7, 2, 8
nn.MultiheadAttention(8, 2)(floats(5, 2, 2, 8), floats(6, 2, 8), floats(6, 2, 8)) -> more-dims -1
nn.MultiheadAttention(8, 2)(floats(5, 2, 8), floats(6, 8), floats(6, 8)) -> rank 3
F.scaled_dot_product_attention(floats(2, 4, 8), floats(2, 5, 8), floats(2, 5, 8), torch.zeros(3, 5)) -> size 4 3
F.scaled_dot_product_attention(floats(2, 4, 8), floats(2, 5, 8), floats(2, 5, 8), ints(4, 5)) -> dtype bool
F.scaled_dot_product_attention(floats(8), floats(8), floats(8)) -> rank 2
nn.Transformer(8, 2, 1, 1, 8)(floats(5, 2, 7), floats(5, 2, 7)) ~> size 7 8
nn.TransformerEncoderLayer(8, 2, 8)(floats(5, 2, 7)) -> size 7 8
nn.TransformerEncoderLayer(8, 2, 8)(floats(5, 2, 2, 8)) -> more-dims -1
F.cross_entropy(floats(4, 3), torch.full((4,), 7)) ~> below 8
F.cross_entropy(floats(4, 3), floats(4)) -> dtype int64
F.cross_entropy(ints(4, 3), ints(4)) ~> dtype float32
F.nll_loss(floats(4, 3), floats(4)) -> dtype int64
F.binary_cross_entropy(floats(4), torch.rand(4)) ~> fractions
F.binary_cross_entropy(torch.rand(4), torch.rand(4, 1)) -> alike 4, 1|4
F.binary_cross_entropy_with_logits(torch.rand(4, 1), torch.rand(4)) -> alike 4|4, 1
F.mse_loss(floats(4, 3), floats(4, 2)) -> size 3 2
F.smooth_l1_loss(floats(4, 3), floats(4, 2)) -> size 3 2
F.kl_div(floats(4, 3), floats(4, 2)) -> size 2 3
F.cosine_embedding_loss(floats(4, 3), floats(4, 3), torch.ones(5)) -> size 5 4
F.margin_ranking_loss(floats(4), floats(5), torch.ones(4)) -> size 4 5
F.poisson_nll_loss(floats(4, 3), floats(4, 2)) -> size 2 3
floats(4, 3).gather(1, torch.zeros(4, 3)) -> dtype int64
floats(4, 3).gather(1, torch.full((4, 3), 7)) ~> below 3
floats(4, 3).gather(1, ints(5, 3)) -> larger
floats(4, 3).scatter(1, torch.zeros(4, 3), floats(4, 3)) -> dtype int64
floats(4, 3).scatter(1, torch.full((4, 3), 7), floats(4, 3)) ~> below 3
floats(4, 3).scatter_add(1, ints(4, 5), floats(4, 3)) -> larger
floats(4, 3).index_select(0, ints(2, 2)) ~> rank 1
floats(4, 3).index_select(0, torch.full((2,), 7)) ~> below 8
floats(4, 3).index_select(0, torch.zeros(2)) ~> dtype int64
floats(4, 3).index_add(0, ints(3), floats(2, 3)) -> size 3 2
floats(4, 3).index_copy(0, ints(3), floats(2, 3)) -> size 3 2
floats(4, 3)[floats(2)] -> dtype int64
floats(4, 3)[torch.full((2,), 7)] ~> below 4
floats(4, 3)[flags(5)] ~> larger
floats(4, 3)[:, 0, 0] -> rank 3
floats(4, 3)[:, 5] -> below 3
floats(4, 3).masked_fill(torch.zeros(4, 3), 0) -> dtype bool
floats(4, 3).masked_fill(flags(4, 2), 0) -> size 2 3
floats(4, 3).masked_select(torch.zeros(4, 3)) ~> dtype bool
torch.where(torch.ones(4, dtype=torch.bool), floats(4), floats(3)) -> size 4 3
floats(4, 3).view(5, 2) -> items 12 10
floats(4, 3).reshape(4, 3, 2) -> items 12 24
floats(4, 3).expand(3) -> more-dims -1
floats(4, 3).permute(0, 2, 1) -> more-dims 1
floats(4, 3).transpose(1, 2) -> rank 3
floats(4, 3).flatten(2) -> rank 3
floats(4, 3).squeeze(2) -> rank 3
floats(4, 3).unsqueeze(5) -> rank 3
floats(4, 3).mean((2, 3)) -> rank 3
floats(4, 3).sum(2) -> rank 3
floats(4, 3).softmax(2) ~> rank 3
ints(4, 3).softmax(-1) ~> dtype float32
floats(4, 3).movedim(2, 0) -> rank 3
floats(4, 3).unfold(1, 5, 1) -> larger
floats(4, 3).topk(5) -> larger
floats(4, 3).repeat_interleave(torch.ones(4), 0) ~> dtype int64
torch.cat([floats(4, 3), floats(5, 3)], 1) -> size 5 4
torch.cat([floats(4, 3), floats(4, 3, 1)], 1) -> rank 2
torch.cat([floats(4, 3), floats(4)], 1) -> rank 2
torch.stack([floats(4, 3), floats(4, 2)]) ~> alike 4, 3|4, 2
torch.stack([floats(4, 3), floats(4)]) ~> alike 4, 3|4
floats(4, 3) + floats(4, 2) -> size 3 2
floats(2, 4, 3) * floats(2, 5, 3) -> size 4 5
floats(4, 3) @ floats(4, 3) -> size 3 4
floats(2, 4, 3) @ floats(3, 3, 3) -> size 2 3
torch.mm(floats(4, 3), floats(4, 3)) -> size 3 4
torch.dot(floats(4, 2), floats(4)) -> more-dims -1
torch.addmm(floats(4, 5), floats(4, 3), floats(3, 4)) -> size 4 5
torch.addmm(floats(5), floats(4, 3), floats(3, 4)) -> size 4 5
torch.einsum("bij,bjk->bik", floats(2, 4, 3), floats(2, 4, 3)) -> larger
torch.einsum("bij,bjk->bik", floats(2, 4, 3), floats(4, 3)) -> more-dims 1
torch.einsum("bi,bi->b", floats(2, 4, 3), floats(2, 4)) -> more-dims -1
torch.cdist(floats(4), floats(4)) -> rank 2
F.cosine_similarity(floats(4, 3), floats(4, 2)) -> size 3 2
F.pairwise_distance(floats(4, 3), floats(4, 2)) -> size 3 2
F.one_hot(floats(4)) -> dtype int64
F.one_hot(torch.full((4,), 7), 5) ~> below 8
torch.linalg.solve(floats(3, 3), floats(4)) -> size 3 4
torch.linalg.solve(floats(3, 3), floats(4, 2)) -> size 3 4
torch.linalg.qr(floats(4)) -> rank 2
torch.linalg.svd(floats(4)) -> rank 2
torch.cholesky_solve(floats(4), floats(4, 4)) -> rank 2
torch.tril(floats(4)) -> rank 2
torch.fft.fft2(floats(4)) -> rank 3
torch.stft(floats(2, 10), 64, window=torch.hann_window(64), return_complex=True) -> larger
torch.istft(floats(2, 33, 9), 64, window=torch.hann_window(64)) -> dtype complex64
torch.istft(floats(2, 30, 9, dtype=torch.complex64), 64, window=torch.hann_window(64)) -> bound 30 33
torch.view_as_real(floats(2, 3)) -> dtype complex64
torch.bincount(floats(4)) ~> dtype int64
torch.histc(ints(4)) -> dtype float32
torch.multinomial(floats(4, 3), 2) ~> fractions
torch.quantile(floats(4), torch.tensor([2.0])) ~> fractions
floats(4).item() -> number
torch.matmul(3, floats(3)) -> tensor
torch.cat(floats(3, 3), 1) ~> pair
torch.cat([3, 4], 1) -> tensor
torch.relu(3) -> tensor
"""


@dataclass(frozen=True, slots=True)
class WrongCall:
    """A call that an operator refuses, and one thing that it requires: `size 5 4`. ``is_fake``: tensors without memory show it, too."""

    text: str
    required: str
    is_fake: bool

    def error(self, is_fake: bool) -> Exception:
        """What torch raises for it. Raises AssertionError if it returns."""
        import torch
        from torch import nn

        names: dict[str, Any] = {
            "torch": torch,
            "nn": nn,
            "F": nn.functional,
            "floats": torch.randn,
            "ints": lambda *sizes: torch.zeros(sizes, dtype=torch.int64),
            "flags": lambda *sizes: torch.zeros(sizes, dtype=torch.bool),
        }
        torch.manual_seed(0)
        try:
            with _without_memory() if is_fake else nullcontext():
                eval(self.text, names)
        except Exception as error:
            return error
        raise AssertionError(f"{self.text} returns")


def _without_memory() -> AbstractContextManager[Any]:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode()


def wrong_calls() -> Iterator[WrongCall]:
    """Those of ``WRONG``."""
    for line in WRONG.strip().splitlines():
        arrow = " -> " if " -> " in line else " ~> "
        text, _, required = line.partition(arrow)
        yield WrongCall(text, required, arrow == " -> ")


def required_by(error: Exception) -> list[str]:
    """What is read of an error."""
    found = agent_module("inputs.synthesis.errors.messages").requirements(error)
    return list(dict.fromkeys(f"{each.kind} {each.value}".strip() for each in found))


def main() -> None:
    """Print the words of the installed torch, and what they require."""
    for call in wrong_calls():
        print(call.text)
        for is_fake in (False, True) if call.is_fake else (False,):
            error = call.error(is_fake)
            print(f"    {error}\n    {', '.join(required_by(error))}")


if __name__ == "__main__":
    main()
