"""What breaks or recompiles in public packages, each cut down to a program: ema-pytorch 0.8, vector-quantize-pytorch 1.32,
pytorch-metric-learning 2.9, torchtune 0.6, kornia 0.9, rotary-embedding-torch 0.9, segmentation-models-pytorch 0.6, x-transformers 2.31."""

import logging
import math
import warnings

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(8, 4)
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
log = logging.getLogger(__name__)


# program: ema_decay
class EMA:
    update_after_step, inv_gamma, power, min_value, beta = 2, 1.0, 2 / 3, 0.0, 0.99

    def get_current_decay(self, step):
        epoch = (step - self.update_after_step - 1).clamp(min=0.0)
        value = 1 - (1 + epoch / self.inv_gamma) ** -self.power
        return value.clamp(min=self.min_value, max=self.beta).item()


ema = EMA()


@torch.compile(backend="eager")
def update(average, weight, step):
    decay = ema.get_current_decay(step)
    return average * decay + weight * (1.0 - decay)


for count in (5.0, 6.0):
    update(X, X + 1, torch.tensor(count))


# program: ema_step_counter
class Posthoc(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)
        self.step = 0

    def forward(self, x):
        self.step += 1
        beta = (1.0 - 1.0 / (self.step + 1.0)) ** 7.94
        return self.net(x).lerp(x, 1.0 - beta)


posthoc = torch.compile(Posthoc(), backend="eager")
for _ in range(4):
    posthoc(X)


# program: replace_dead_codes
@torch.compile(backend="eager")
def replace_dead_codes(codes, usage, samples):
    dead = usage < 2
    if not torch.any(dead):
        return codes
    return torch.where(dead[:, None], samples, codes)


replace_dead_codes(X, LABELS, X + 1)


# program: number_of_dead_codes
@torch.compile(backend="eager")
def number_of_dead_codes(codes, usage):
    num_dead = (usage < 2).sum().item()
    return codes * (1.0 - num_dead / codes.shape[0])


number_of_dead_codes(X, LABELS)


# program: codebook_size
class FiniteScalar(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("levels", torch.tensor([4, 4, 4, 4]))

    def forward(self, z):
        half = (self.levels - 1) / 2
        codebook_size = self.levels.prod().item()
        return torch.tanh(z) * half / math.log(codebook_size)


torch.compile(FiniteScalar(), backend="eager")(X)


# program: angle_statistics
class LargeMargin(torch.nn.Module):
    collect_stats = True

    def forward(self, cosine):
        angles = torch.acos(torch.clamp(cosine, -1, 1))
        if self.collect_stats:
            with torch.no_grad():
                self.avg_angle = np.degrees(torch.mean(angles).item())
        return angles.sum()


torch.compile(LargeMargin(), backend="eager")(X)


# program: supervised_contrast
@torch.compile(backend="eager")
def supervised_contrast(mat, pos_mask, neg_mask):
    loss = torch.zeros(mat.shape[0])
    if pos_mask.any() and neg_mask.any():
        mat = mat - mat.max(dim=1, keepdim=True)[0].detach()
        log_prob = mat - torch.logsumexp(mat, dim=1, keepdim=True)
        loss = -(pos_mask * log_prob).sum(dim=1) / (pos_mask.sum(dim=1) + 1e-6)
    return loss.mean()


same = LABELS[:, None] == LABELS
supervised_contrast(X @ X.t(), same, ~same)


# program: threshold_reducer
@torch.compile(backend="eager")
def threshold_reducer(losses):
    losses = losses[losses > 0.1]
    if len(losses) >= 1:
        return torch.mean(losses)
    return losses.sum() * 0


threshold_reducer(X)


# program: triplet_statistics
class TripletMiner(torch.nn.Module):
    margin = 0.2

    def forward(self, ap_dist, an_dist):
        triplet_margin = an_dist - ap_dist
        self.avg_triplet_margin = torch.mean(triplet_margin).item()
        return F.relu(self.margin - triplet_margin).mean()


torch.compile(TripletMiner(), backend="eager")(X, X + 1)


# program: equal_classes
@torch.compile(backend="eager")
def equal_classes(embeddings, labels):
    counts = torch.bincount(labels, minlength=4)
    if counts.max() != counts.min():
        raise ValueError(f"All classes must have the same number of elements, not {counts.tolist()}.")
    return (embeddings @ embeddings.t()).sigmoid().sum(-1)


equal_classes(X, LABELS)


# program: cache_position
class KVCache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 4))
        self.register_buffer("cache_pos", torch.arange(16))

    def forward(self, k):
        assert (self.cache_pos[0] + k.shape[0]) <= self.keys.shape[0]
        self.keys[self.cache_pos[: k.shape[0]]] = k
        self.cache_pos.add_(k.shape[0])
        return self.keys.sum()


torch.compile(KVCache(), backend="eager")(X)


# program: stop_tokens
@torch.compile(backend="eager")
def stop_tokens(logits, reached):
    token = logits.argmax(-1)
    reached = reached | (token == 3)
    if reached.all():
        return token, reached, logits * 0
    return token, reached, logits - logits.logsumexp(-1, keepdim=True)


stop_tokens(X, torch.zeros(8, dtype=torch.bool))


# program: padding_masks
@torch.compile(backend="eager")
def padding_masks(scores, mask):
    if not mask.all():
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1)


padding_masks(X, X > -1)


# program: sigma_must_be_positive
@torch.compile(backend="eager")
def sigma_must_be_positive(image, sigma):
    if not (sigma > 0).all():
        raise ValueError("Sigma must be positive.")
    return torch.exp(-(image**2) / (2 * sigma**2))


sigma_must_be_positive(X, torch.ones(4))


# program: cached_frequencies
class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cached_freqs", torch.zeros(64, 4))
        self.cached_freqs_seq_len = 0

    def forward(self, x, offset=0):
        if offset + x.shape[0] > self.cached_freqs_seq_len:
            self.cached_freqs_seq_len = offset + x.shape[0]
        positions = torch.arange(self.cached_freqs_seq_len)
        return x * torch.cos(positions[offset : offset + x.shape[0], None])


rotary = torch.compile(Rotary(), backend="eager")
for begin in (0, 8, 16):
    rotary(X, begin)


# program: zero_division_warning
@torch.compile(backend="eager")
def zero_division_warning(score):
    nans = torch.isnan(score)
    if torch.any(nans):
        warnings.warn("Score has been set to 0 where it could not be computed.")
    return torch.where(nans, torch.zeros(()), score)


zero_division_warning(X)


# program: drop_path_rates
class MixTransformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer, rate in zip(self.layers, [r.item() for r in torch.linspace(0, 0.1, 3)]):
            x = x + layer(x) * (1 - rate)
        return x


torch.compile(MixTransformer(), backend="eager")(X)


# program: mixing_logit
@torch.compile(backend="eager")
def mixing_logit(z_source, z_dest, p=0.3):
    alpha = torch.log(torch.tensor(p) / (1 - p)).item()
    return z_dest + alpha * z_source


mixing_logit(X, X)


# program: layers_by_step
class EarlyExit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.do_output = [False, False, True]
        self.step = 0

    def forward(self, hidden):
        used = [h for h, wanted in zip(hidden, self.do_output) if wanted]
        return torch.stack(used).mean(0)


exits = EarlyExit()
early = torch.compile(exits, backend="eager")
for step in range(3):
    exits.do_output = [step > 1, step > 0, True]
    early([X, X + 1, X + 2])


# program: crop_lengths
@torch.compile(backend="eager")
def crop_lengths(x, length):
    return F.pad(x[:length], (0, 0, 0, 8 - length)).mean()


for length in (3, 5, 7):
    crop_lengths(X, length)
