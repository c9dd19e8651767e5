"""Training and inference code whose calls differ: sizes, schedules, modes, states, options."""

import dataclasses
import functools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


# program: train_and_validate
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2))
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for _ in range(2):
        loss = compiled(torch.randn(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        compiled(torch.randn(4, 8))


# program: discriminator
class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 1)

    def forward(self, image):
        return torch.sigmoid(self.body(image))


generator = nn.Linear(3, 6)
discriminator = torch.compile(Discriminator(), backend="eager")
real = torch.randn(4, 6)
fake = generator(torch.randn(4, 3))
loss_d = -discriminator(real).log().mean() - (1 - discriminator(fake.detach())).log().mean()
loss_g = -discriminator(fake).log().mean()
(loss_d + loss_g).backward()


# program: truncated_sequence
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 5
        self.mix = nn.Linear(5, 5)

    def forward(self, chunk, state=None):
        if state is None:
            state = chunk.new_zeros(chunk.shape[0], self.size)
        return torch.tanh(self.mix(chunk) + state)


encoder = torch.compile(Encoder(), backend="eager")
state = None
for chunk in torch.randn(3, 2, 5):
    state = encoder(chunk, state)


# program: decoder_cache
@torch.compile(backend="eager")
def attend(query, key, value, past):
    if past is not None:
        key = torch.cat([past[0], key], dim=1)
        value = torch.cat([past[1], value], dim=1)
    scores = (query @ key.transpose(1, 2)).softmax(-1)
    return scores @ value, (key, value)


past = None
for token in torch.randn(4, 1, 1, 8):
    out, past = attend(token, token, token, past)


# program: learning_rate_argument
@torch.compile(backend="eager")
def sgd(parameter, gradient, lr):
    return parameter - lr * gradient


weight = torch.ones(4)
lr = 0.1
for epoch in range(4):
    weight = sgd(weight, torch.full((4,), 0.5), lr)
    lr *= 0.5


# program: scheduler_and_step
layer = nn.Linear(4, 1)
adam = torch.optim.Adam(layer.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(adam, step_size=1, gamma=0.5)


@torch.compile(backend="eager")
def update():
    adam.step()


for _ in range(3):
    layer(torch.ones(2, 4)).sum().backward()
    update()
    scheduler.step()


# program: curriculum
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


tagger = torch.compile(Tagger(), backend="eager")
for length in (8, 16, 32, 64):
    tokens = torch.randint(50, (4, length))
    F.cross_entropy(tagger(tokens).flatten(0, 1), torch.zeros(4 * length, dtype=torch.long)).backward()


# program: evaluation_batches
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 4)

    def forward(self, features):
        return self.out(self.norm(features))


head = Head().eval()
fast_head = torch.compile(head, backend="eager")
data = torch.randn(11, 8)
predictions = [fast_head(batch).argmax(-1) for batch in data.split(4)]


# program: multi_scale
class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, images):
        return F.adaptive_avg_pool2d(self.conv(images).relu(), 1).flatten(1)


detector = torch.compile(Detector(), backend="eager")
for side in (32, 48, 64):
    detector(torch.randn(2, 3, side, side))


# program: both_directions
@torch.compile(backend="eager")
def normalized(matrix):
    return matrix / matrix.norm(dim=-1, keepdim=True)


similarity = torch.randn(6, 6)
rows = normalized(similarity)
columns = normalized(similarity.t())


# program: memory_format
stem = torch.compile(nn.Conv2d(3, 8, 3), backend="eager")
pictures = torch.randn(2, 3, 16, 16)
stem(pictures)
stem(pictures.to(memory_format=torch.channels_last))


# program: label_types
@torch.compile(backend="eager")
def gather_scores(scores, labels):
    return scores[torch.arange(scores.shape[0]), labels]


gather_scores(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]))
gather_scores(torch.randn(4, 3), torch.tensor([0, 1, 2, 0], dtype=torch.int32))


# program: numpy_batch
@torch.compile(backend="eager")
def standardized(batch):
    return (batch - batch.mean(0)) / (batch.std(0) + 1e-6)


standardized(torch.randn(6, 3))
standardized(torch.from_numpy(np.arange(18.0).reshape(6, 3)))


# program: precision
block = nn.Linear(8, 8)
run = torch.compile(block, backend="eager")
features = torch.randn(2, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    run(features)
run(features)


# program: frozen_backbone
backbone, top = nn.Linear(6, 6), nn.Linear(6, 2)


@torch.compile(backend="eager")
def score(x):
    return top(backbone(x).relu())


for epoch in range(3):
    if epoch == 1:
        for parameter in backbone.parameters():
            parameter.requires_grad_(False)
    score(torch.randn(3, 6)).sum().backward()


# program: annealed_softmax
class Gumbel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tau = 1.0

    def forward(self, logits):
        return (logits / self.tau).softmax(-1)


gumbel = Gumbel()
relaxed = torch.compile(gumbel, backend="eager")
for _ in range(4):
    relaxed(torch.randn(2, 5))
    gumbel.tau = max(0.5, gumbel.tau * 0.8)


# program: stochastic_depth
class DropPath(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if self.rate == 0.0:
            return x
        return x * (1 - self.rate)


path = DropPath(0.0)
dropped = torch.compile(path, backend="eager")
for rate in (0.0, 0.1, 0.2):
    path.rate = rate
    dropped(torch.ones(2, 3))


# program: warmup_steps
@torch.compile(backend="eager")
def scaled_loss(prediction, step):
    scale = step / 4 if step < 4 else 1.0
    return prediction.square().mean() * scale


for step in range(1, 7):
    scaled_loss(torch.ones(3), step)


# program: with_attention
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x, need_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = (q @ k.transpose(-1, -2)).softmax(-1)
        out = weights @ v
        if need_weights:
            return out, weights
        return out


attention = torch.compile(Attention(), backend="eager")
sequence = torch.randn(2, 3, 4)
attention(sequence)
attention(sequence, need_weights=True)


# program: pooled_by_config
@torch.compile(backend="eager")
def pooled(hidden, mask, strategy):
    if strategy == "cls":
        return hidden[:, 0]
    if strategy == "mean":
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    return hidden.masked_fill(~mask.bool()[..., None], -1e9).amax(1)


hidden, mask = torch.randn(2, 5, 3), torch.ones(2, 5)
for strategy in ["cls", "mean", "max"]:
    pooled(hidden, mask, strategy)


# program: losses
LOSSES = {"mse": F.mse_loss, "l1": F.l1_loss, "huber": F.huber_loss}


@torch.compile(backend="eager")
def objective(prediction, target, loss):
    return loss(prediction, target)


results = {name: objective(torch.ones(3), torch.zeros(3), loss) for name, loss in LOSSES.items()}


# program: recall_at_k
@torch.compile(backend="eager")
def recall(scores, relevant, k):
    top = scores.topk(k, dim=-1).indices
    return relevant.gather(-1, top).float().sum(-1).mean()


scores, relevant = torch.randn(4, 20), torch.randint(2, (4, 20))
for k in (1, 5, 10):
    recall(scores, relevant, k)


# program: blocks_one_by_one
class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(x) / (self.index + 1)


blocks = [torch.compile(Block(index), backend="eager") for index in range(4)]
x = torch.randn(2, 4)
for block in blocks:
    x = block(x)


# program: ensemble
@torch.compile(backend="eager")
def predict(member, x):
    return member(x).softmax(-1)


members = [nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))]
average = sum(predict(member, torch.ones(2, 4)) for member in members) / len(members)


# program: settings_object
@dataclasses.dataclass
class Settings:
    smoothing: float = 0.0
    classes: int = 3


@torch.compile(backend="eager")
def smoothed(targets, settings):
    one_hot = F.one_hot(targets, settings.classes).float()
    return one_hot * (1 - settings.smoothing) + settings.smoothing / settings.classes


labels = torch.tensor([0, 2, 1])
for smoothing in (0.0, 0.1, 0.2):
    smoothed(labels, Settings(smoothing=smoothing))


# program: optional_labels
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, batch):
        logits = self.out(batch["features"])
        if "labels" in batch:
            return F.cross_entropy(logits, batch["labels"])
        return logits


classifier = torch.compile(Classifier(), backend="eager")
classifier({"features": torch.randn(2, 4), "labels": torch.tensor([0, 1])})
classifier({"features": torch.randn(2, 4)})


# program: image_lists
@torch.compile(backend="eager")
def brightness(images):
    return torch.stack(images).mean((1, 2, 3))


for count in (2, 3, 4):
    brightness([torch.rand(3, 8, 8) for _ in range(count)])


# program: auxiliary_losses
@torch.compile(backend="eager")
def total_loss(losses, weight):
    total = losses[0]
    for extra in losses[1:]:
        total = total + weight * extra
    return total


main_loss = torch.tensor(1.0)
total_loss([main_loss], 0.4)
total_loss([main_loss, torch.tensor(0.5)], 0.4)
total_loss([main_loss, torch.tensor(0.5), torch.tensor(0.2)], 0.4)


# program: noise_levels
def denoise(sample, sigmas):
    for sigma in sigmas:

        @torch.compile(backend="eager")
        def step(x):
            return x - sigma * x.tanh()

        sample = step(sample)
    return sample


denoise(torch.ones(4), [1.0, 0.5, 0.25])


# program: some_masks
@torch.compile(backend="eager")
def masked_mean(values, mask=None):
    if mask is None:
        mask = torch.ones_like(values)
    return (values * mask).sum() / mask.sum()


batches = [(torch.randn(5), None), (torch.randn(5), torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0])), (torch.randn(5), None)]
means = [masked_mean(values, mask) for values, mask in batches]


# program: sampler
class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("alphas", torch.linspace(0.9, 0.1, 10))
        self.net = nn.Linear(4, 4)

    def forward(self, x, timestep):
        alpha = self.alphas[timestep]
        return alpha.sqrt() * x + (1 - alpha) * self.net(x)


sampler = torch.compile(Sampler(), backend="eager")
sample = torch.randn(2, 4)
with torch.no_grad():
    for timestep in reversed(range(10)):
        sample = sampler(sample, timestep)


# program: sliding_windows
@torch.compile(backend="eager")
def window_energy(signal, start, width=4):
    return signal[start : start + width].square().sum()


signal = torch.randn(20)
energies = [window_energy(signal, start) for start in range(0, 12, 4)]


# program: moving_average
class Average:
    def __init__(self, module):
        self.module = module
        self.shadow = [parameter.detach().clone() for parameter in module.parameters()]
        self.updates = 0

    def update(self):
        self.updates += 1
        decay = min(0.99, (1 + self.updates) / (10 + self.updates))
        self.shadow = blend(self.shadow, [parameter.detach() for parameter in self.module.parameters()], decay)


@torch.compile(backend="eager")
def blend(shadow, parameters, decay):
    return [old * decay + new * (1 - decay) for old, new in zip(shadow, parameters)]


average = Average(nn.Linear(3, 2))
for _ in range(4):
    average.update()


# program: matmul_precision
@torch.compile(backend="eager")
def projected(x, matrix):
    return x @ matrix


projected(torch.randn(3, 3), torch.eye(3))
torch.set_float32_matmul_precision("high")
projected(torch.randn(3, 3), torch.eye(3))


# program: accumulation
accumulator = nn.Linear(3, 1)


@torch.compile(backend="eager")
def accumulated(x, is_last, steps):
    loss = accumulator(x).mean() / steps
    return loss if is_last else loss.detach() + 0 * loss


for number in range(4):
    accumulated(torch.randn(2, 3), number % 2 == 1, 2).backward()


# program: lazy_positions
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(32, dtype=torch.float32)[:, None] / 32
        return x + self.table[: x.shape[0]]


positions = torch.compile(Positions(), backend="eager")
for _ in range(3):
    positions(torch.zeros(6, 2))


# program: partials
def activation(x, slope):
    return torch.where(x > 0, x, slope * x)


@torch.compile(backend="eager")
def activated(x, function):
    return function(x).sum()


for slope in (0.01, 0.1, 0.2):
    activated(torch.randn(4), functools.partial(activation, slope=slope))
