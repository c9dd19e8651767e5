"""What recompiles or breaks in public packages, each cut down to a program: lion-pytorch 0.2, adan-pytorch 0.1, torch-ema 0.3,
schedulefree 1.4, balanced-loss 0.1, entmax 1.3, iTransformer 0.8, soundstorm-pytorch 0.6, meshgpt-pytorch 1.8, prodigyopt 1.1,
hl-gauss-pytorch 0.3, rectified-flow-pytorch 0.14, transfusion-pytorch 0.20."""

import logging
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
X = torch.randn(4, 6)
logger = logging.getLogger(__name__)


# program: lion_update
@torch.compile(backend="eager")
def update_fn(p, grad, exp_avg, lr, wd, beta1, beta2):
    p.data.mul_(1.0 - lr * wd)
    update = exp_avg.clone().mul_(beta1).add(grad, alpha=1.0 - beta1).sgn_()
    p.add_(update, alpha=-lr)
    exp_avg.mul_(beta2).add_(grad, alpha=1.0 - beta2)


p, exp_avg = torch.ones(6), torch.zeros(6)
for epoch in range(4):
    update_fn(p, X[epoch], exp_avg, 0.1 * math.cos(epoch / 4), 0.01, 0.9, 0.99)


# program: adan_step
@torch.compile(backend="eager")
def adan_step(p, grad, state, lr, betas):
    beta1, beta2 = betas
    step, m, v, prev_grad = state["step"], state["m"], state["v"], state["prev_grad"]
    if step > 0:
        m.mul_(1 - beta1).add_(grad, alpha=beta1)
        v.mul_(1 - beta2).add_(grad - prev_grad, alpha=beta2)
    step += 1
    correct_m, correct_v = map(lambda n: 1 / (1 - (1 - n) ** step), (beta1, beta2))
    p.sub_(lr * (m * correct_m + v * correct_v))
    prev_grad.copy_(grad)
    state["step"] = step


state = dict(step=0, m=torch.zeros(6), v=torch.zeros(6), prev_grad=torch.zeros(6))
weight = torch.ones(6)
for number in range(4):
    adan_step(weight, X[number], state, 0.01, (0.02, 0.08))


# program: ema_of_parameters
class ExponentialMovingAverage:
    def __init__(self, parameters, decay):
        self.decay = decay
        self.num_updates = 0
        self.shadow_params = [p.clone().detach() for p in parameters]

    @torch.compile(backend="eager")
    def update(self, parameters):
        self.num_updates += 1
        decay = min(self.decay, (1 + self.num_updates) / (10 + self.num_updates))
        one_minus_decay = 1.0 - decay
        with torch.no_grad():
            for s_param, param in zip(self.shadow_params, parameters):
                s_param.sub_(one_minus_decay * (s_param - param))


layer = nn.Linear(6, 2)
ema = ExponentialMovingAverage(layer.parameters(), 0.99)
for _ in range(4):
    ema.update(list(layer.parameters()))


# program: schedule_free
@torch.compile(backend="eager")
def schedule_free_step(y, z, grad, exp_avg_sq, group):
    beta1, beta2 = group["betas"]
    k = group["k"]
    sched = (k + 1) / group["warmup_steps"] if k < group["warmup_steps"] else 1.0
    bias_correction2 = 1 - beta2 ** (k + 1)
    lr = group["lr"] * sched
    weight = lr**2.0
    weight_sum = group["weight_sum"] + weight
    ckp1 = weight / weight_sum
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    grad_normalized = grad / exp_avg_sq.div(bias_correction2).sqrt_().add_(1e-8)
    y.lerp_(end=z, weight=ckp1)
    y.add_(grad_normalized * (lr * (beta1 * (1 - ckp1) - 1)))
    z.sub_(grad_normalized * lr)
    group["weight_sum"] = weight_sum
    group["k"] = k + 1


group = {"k": 0, "lr": 0.01, "betas": (0.9, 0.999), "warmup_steps": 2, "weight_sum": 0.0}
y, z, squares = torch.ones(6), torch.ones(6), torch.zeros(6)
for number in range(4):
    schedule_free_step(y, z, X[number], squares, group)


# program: balanced_focal_loss
@torch.compile(backend="eager")
def focal_loss(logits, labels, alpha=None, gamma=2.0):
    bc_loss = F.binary_cross_entropy_with_logits(input=logits, target=labels, reduction="none")
    if gamma == 0.0:
        modulator = 1.0
    else:
        modulator = torch.exp(-gamma * labels * logits - gamma * torch.log(1 + torch.exp(-1.0 * logits)))
    loss = modulator * bc_loss
    if alpha is not None:
        loss = alpha * loss
    return torch.sum(loss) / torch.sum(labels)


labels = F.one_hot(torch.tensor([0, 1, 2, 0]), 6).float()
for gamma in (0.5, 1.0, 2.0):
    focal_loss(X, labels, gamma=gamma)
focal_loss(X, labels, alpha=torch.full((4, 6), 0.5))


# program: sparsemax_support
@torch.compile(backend="eager")
def sparsemax_threshold(scores, k=None):
    if k is None or k >= scores.shape[-1]:
        topk, _ = torch.sort(scores, dim=-1, descending=True)
    else:
        topk, _ = torch.topk(scores, k=k, dim=-1)
    rhos = torch.arange(1, topk.shape[-1] + 1, dtype=scores.dtype)
    topk_cumsum = topk.cumsum(-1) - 1
    support_size = (rhos * topk > topk_cumsum).sum(dim=-1, keepdim=True)
    return topk_cumsum.gather(-1, support_size - 1) / support_size


for k in (2, 3, 5):
    sparsemax_threshold(X, k=k)


# program: support_unsolved
@torch.compile(backend="eager")
def support_of(scores, k):
    topk, _ = torch.topk(scores, k=k, dim=-1)
    support_size = (topk > topk.cumsum(-1) - 1).sum(dim=-1)
    tau = topk.sum(-1) / support_size
    unsolved = support_size == k
    if torch.any(unsolved):
        tau[unsolved] = scores[unsolved].logsumexp(-1)
    return tau


support_of(X, 3)


# program: reversible_norm
class RevIN(nn.Module):
    def __init__(self, variates):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(variates, 1))
        self.beta = nn.Parameter(torch.zeros(variates, 1))

    def forward(self, x, return_statistics=False):
        var = torch.var(x, dim=-1, unbiased=False, keepdim=True)
        mean = torch.mean(x, dim=-1, keepdim=True)
        rescaled = (x - mean) * var.clamp(min=1e-5).rsqrt() * self.gamma + self.beta
        if not return_statistics:
            return rescaled
        return rescaled, (mean, var)


norm = torch.compile(RevIN(4), backend="eager")
norm(X)
norm(X, return_statistics=True)


# program: rotary_positions
class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)), persistent=False)

    def forward(self, seq_len):
        t = torch.arange(seq_len).type_as(self.inv_freq)
        freqs = torch.einsum("i , j -> i j", t, self.inv_freq)
        return torch.cat((freqs, freqs), dim=-1)


rotary = torch.compile(RotaryEmbedding(8), backend="eager")
for length in (5, 6, 9):
    rotary(length)


# program: annealed_gumbel
@torch.compile(backend="eager")
def gumbel_sample(t, temperature=1.0, dim=-1):
    noise = -torch.log(-torch.log(torch.full_like(t, 0.5)))
    return ((t / max(temperature, 1e-10)) + noise).argmax(dim=dim)


steps = 4
for step in range(steps):
    gumbel_sample(X, temperature=1.0 - step / steps)


# program: top_k_filter
@torch.compile(backend="eager")
def top_k(logits, thres=0.9):
    k = math.ceil((1 - thres) * logits.shape[-1])
    val, ind = logits.topk(k, dim=-1)
    return torch.full_like(logits, float("-inf")).scatter(-1, ind, val)


for thres in (0.9, 0.6, 0.3):
    top_k(X, thres)


# program: gate_loop_cache
class GateLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(6, 6)

    def forward(self, x, cache=None):
        received_cache = cache is not None
        if received_cache:
            prev, x = x[:, :-1], x[:, -1:]
        out = self.mix(x)
        if received_cache:
            out = out + cache
            x = torch.cat((prev, x + out), dim=-2)
        return x, out[:, -1:]


gate_loop = torch.compile(GateLoop().eval(), backend="eager")
tokens, cache = torch.randn(1, 3, 6), None
with torch.no_grad():
    for _ in range(3):
        tokens, cache = gate_loop(tokens, cache)
        tokens = torch.cat((tokens, tokens[:, -1:]), dim=1)


# program: prodigy_distance
@torch.compile(backend="eager")
def distance(p, p0, grad, s, d, d0, dlr):
    delta_numerator = (d / d0) * dlr * torch.dot(grad, p0 - p).item()
    s.mul_(0.9).add_(grad, alpha=(d / d0) * dlr)
    return delta_numerator, s.abs().sum().item()


s, start, weights, d = torch.zeros(6), torch.zeros(6), torch.ones(6), 1e-6
for number in range(3):
    numerator, denominator = distance(weights, start, X[number], s, d, 1e-6, 0.1)
    d = max(d, abs(numerator) / max(denominator, 1e-8))


# program: warns_out_of_range
@torch.compile(backend="eager")
def out_of_range(target, low, high, tolerance):
    deviation = (low - target).clamp(min=0.0) + (target - high).clamp(min=0.0)
    max_deviation, index = deviation.flatten().max(dim=0)
    if max_deviation > tolerance:
        logger.warning(f"value of {target.flatten()[index].item()} is out of the support, by {max_deviation.item()}")
    return deviation.sum()


out_of_range(X, -1.0, 1.0, 0.1)


# program: reduced_loss
@torch.compile(backend="eager")
def flow_loss(pred, target, reduction="mean", weight=None):
    loss = F.mse_loss(pred, target, reduction="none")
    if weight is not None:
        loss = loss * weight
    if reduction == "none":
        return loss
    return loss.mean()


flow_loss(X, X + 1)
flow_loss(X, X + 1, reduction="none")
flow_loss(X, X + 1, weight=torch.full_like(X, 2.0))


# program: denoising_times
@torch.compile(backend="eager")
def euler_step(noised, flow, time, step_size):
    scale = 1.0 / max(1.0 - time, 1e-5)
    return noised + flow * scale * step_size


noised = X.clone()
times = [number / 4 for number in range(4)]
for time in times:
    noised = euler_step(noised, X, time, 0.25)


# program: causal_offset
@torch.compile(backend="eager")
def modality_mask(seq_len, offset, length):
    seq = torch.arange(seq_len)
    is_modality = (seq >= offset) & (seq < offset + length)
    causal = seq[:, None] >= seq[None, :]
    return causal | (is_modality[:, None] & is_modality[None, :])


for offset, length in ((2, 3), (4, 2), (5, 5)):
    modality_mask(12, offset, length)
