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


# program: label_types
@torch.compile(backend="eager")
def gather_scores(scores, labels):
    return scores[torch.arange(scores.shape[0]), labels]


gather_scores(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]))
gather_scores(torch.randn(4, 3), torch.tensor([0, 1, 2, 0], dtype=torch.int32))


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


# program: losses
LOSSES = {"mse": F.mse_loss, "l1": F.l1_loss, "huber": F.huber_loss}


@torch.compile(backend="eager")
def objective(prediction, target, loss):
    return loss(prediction, target)


results = {name: objective(torch.ones(3), torch.zeros(3), loss) for name, loss in LOSSES.items()}


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


# program: accumulation
accumulator = nn.Linear(3, 1)


@torch.compile(backend="eager")
def accumulated(x, is_last, steps):
    loss = accumulator(x).mean() / steps
    return loss if is_last else loss.detach() + 0 * loss


for number in range(4):
    accumulated(torch.randn(2, 3), number % 2 == 1, 2).backward()
