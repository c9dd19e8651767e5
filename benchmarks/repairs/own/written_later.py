"""Programs as people write them for training and inference, written after all fixes: sampling of tokens, a step of a GAN, a rollout,
gradient accumulation with logging, beam search, suppression of boxes, early exits, and augmentation with NumPy."""

import logging
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
np.random.seed(0)
random.seed(0)


# program: sampling
class TinyLM(nn.Module):
    def __init__(self, vocab=50, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids, state=None):
        x = self.embed(ids[:, -1])
        if state is None:
            state = torch.zeros_like(x)
        state = torch.tanh(self.rnn(torch.cat([x, state], dim=-1)))
        return self.head(state), state


@torch.compile(backend="eager")
def sample_step(logits, generated, temperature, top_k, repetition_penalty):
    if repetition_penalty != 1.0:
        for token in set(generated[0].tolist()):
            logits[:, token] /= repetition_penalty
    logits = logits / max(temperature, 1e-5)
    values, _ = torch.topk(logits, min(top_k, logits.size(-1)))
    logits[logits < values[:, [-1]]] = -float("inf")
    return logits.argmax(dim=-1, keepdim=True)


def generate(model, prompt, max_new_tokens=6, eos=3):
    state, ids = None, prompt
    for step in range(max_new_tokens):
        logits, state = model(ids, state)
        token = sample_step(logits, ids, temperature=0.8, top_k=10, repetition_penalty=1.1)
        ids = torch.cat([ids, token], dim=1)
        if (token == eos).all():
            break
    return ids


model = torch.compile(TinyLM().eval(), backend="eager")
with torch.no_grad():
    print(generate(model, torch.tensor([[1, 2, 4]])).shape)


# program: gan_step
generator = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
discriminator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.SGD(generator.parameters(), lr=1e-3)
opt_d = torch.optim.SGD(discriminator.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
history = {"d": [], "g": []}


@torch.compile(backend="eager")
def d_loss(real, fake, smooth):
    ones = torch.full((real.size(0), 1), 1.0 - smooth)
    loss_real = bce(discriminator(real), ones)
    loss_fake = bce(discriminator(fake.detach()), torch.zeros(fake.size(0), 1))
    loss = 0.5 * (loss_real + loss_fake)
    history["d"].append(loss.item())
    if torch.isnan(loss):
        raise RuntimeError("discriminator diverged")
    return loss


@torch.compile(backend="eager")
def g_loss(fake, weight):
    return weight * bce(discriminator(fake), torch.ones(fake.size(0), 1))


for step in range(3):
    real = torch.randn(6, 4)
    fake = generator(torch.randn(6, 8))
    opt_d.zero_grad()
    loss_d = d_loss(real, fake, smooth=0.1 / (step + 1))
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = g_loss(fake, 1.0 + 0.1 * step)
    loss_g.backward()
    opt_g.step()
    history["g"].append(loss_g.item())
print(history)


# program: rollout
class Policy(nn.Module):
    def __init__(self, observations=4, actions=2):
        super().__init__()
        self.body = nn.Linear(observations, 16)
        self.actor = nn.Linear(16, actions)
        self.critic = nn.Linear(16, 1)

    def act(self, observation):
        x = torch.as_tensor(np.asarray(observation, dtype=np.float32))
        hidden = torch.relu(self.body(x))
        logits = self.actor(hidden)
        action = int(logits.argmax())
        return action, torch.log_softmax(logits, -1)[action], self.critic(hidden)


@torch.compile(backend="eager")
def returns(rewards, gamma=0.9):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.insert(0, total)
    return torch.tensor(out)


policy = Policy()
policy.act = torch.compile(policy.act, backend="eager")
for episode in range(3):
    observation, rewards, log_probs = np.zeros(4), [], []
    for t in range(3 + episode):
        action, log_prob, value = policy.act(observation)
        observation = observation + np.random.randn(4) * (1 + action)
        rewards.append(float(observation.sum() > 0))
        log_probs.append(log_prob)
    loss = -(torch.stack(log_probs) * returns(rewards)).sum()
    loss.backward()
    print(episode, len(rewards))


# program: accumulation_with_logging
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("train")
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ACCUMULATE = 2


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def average(self):
        return self.total / max(self.count, 1)


meter = Meter()


@torch.compile(backend="eager")
def train_step(x, y, step):
    start = time.time()
    loss = criterion(model(x), y) / ACCUMULATE
    meter.update(loss.item() * ACCUMULATE, x.size(0))
    if step % 2 == 0:
        log.info("step %d loss %.4f (%.3fs)", step, meter.average, time.time() - start)
    return loss


for step, size in enumerate([8, 8, 6, 4]):
    x, y = torch.randn(size, 10), torch.randint(0, 3, (size,))
    train_step(x, y, step).backward()
    if (step + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()


# program: beam_search
BEAM, VOCAB, EOS = 3, 12, 0
transition = torch.randn(VOCAB, VOCAB)


@torch.compile(backend="eager")
def extend(sequences, scores, finished):
    log_probs = torch.log_softmax(transition[sequences[:, -1]], dim=-1)
    if finished.any():
        log_probs[finished] = float("-inf")
        log_probs[finished, EOS] = 0.0
    candidates = (scores[:, None] + log_probs).view(-1)
    scores, indices = candidates.topk(BEAM)
    beams = torch.div(indices, VOCAB, rounding_mode="floor")
    tokens = indices % VOCAB
    sequences = torch.cat([sequences[beams], tokens[:, None]], dim=1)
    return sequences, scores, finished[beams] | (tokens == EOS)


def search(length=6):
    sequences = torch.ones(BEAM, 1, dtype=torch.long)
    scores = torch.tensor([0.0, -1e9, -1e9])
    finished = torch.zeros(BEAM, dtype=torch.bool)
    for _ in range(length):
        sequences, scores, finished = extend(sequences, scores, finished)
        if finished.all():
            break
    return sequences[scores.argmax()]


print(search())


# program: non_maximum_suppression
def iou(box, boxes):
    left_top = torch.maximum(box[:2], boxes[:, :2])
    right_bottom = torch.minimum(box[2:], boxes[:, 2:])
    overlap = (right_bottom - left_top).clamp(min=0).prod(-1)
    area = (box[2:] - box[:2]).prod()
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
    return overlap / (area + areas - overlap)


@torch.compile(backend="eager")
def postprocess(boxes, scores, threshold=0.3):
    keep = scores > threshold
    boxes, scores = boxes[keep], scores[keep]
    order = scores.argsort(descending=True)
    picked = []
    while order.numel() > 0:
        best = order[0]
        picked.append(best)
        if order.numel() == 1:
            break
        order = order[1:][iou(boxes[best], boxes[order[1:]]) < 0.5]
    return boxes[torch.stack(picked)] if picked else boxes[:0]


corners = torch.rand(8, 2)
boxes = torch.cat([corners, corners + torch.rand(8, 2) + 0.1], dim=1)
print(postprocess(boxes, torch.rand(8)).shape)


# program: early_exit
class EarlyExit(nn.Module):
    def __init__(self, depth=3, width=16, classes=5, threshold=0.35):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.exits = nn.ModuleList(nn.Linear(width, classes) for _ in range(depth))
        self.threshold = threshold
        self.exit_counts = [0] * depth

    def forward(self, x):
        for i, (block, exit_head) in enumerate(zip(self.blocks, self.exits)):
            x = torch.relu(block(x))
            probabilities = exit_head(x).softmax(dim=-1)
            confidence = probabilities.max(dim=-1).values.mean()
            if confidence > self.threshold:
                self.exit_counts[i] += 1
                return probabilities
        self.exit_counts[-1] += 1
        return probabilities


model = torch.compile(EarlyExit().eval(), backend="eager")
with torch.no_grad():
    for batch in (4, 4, 7):
        print(model(torch.randn(batch, 16)).shape)


# program: augmentation
def mixup(images, labels, alpha=0.4):
    lam = np.random.beta(alpha, alpha)
    order = torch.randperm(images.size(0))
    return lam * images + (1 - lam) * images[order], labels, labels[order], lam


def random_flip(images, p=0.5):
    if random.random() < p:
        images = torch.flip(images, dims=[3])
    return images


def normalize(images, mean=(0.5, 0.4, 0.3)):
    return images - torch.from_numpy(np.array(mean, dtype=np.float32)).view(1, 3, 1, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(4, 5)

    def forward(self, images, labels):
        images = normalize(random_flip(images))
        images, a, b, lam = mixup(images, labels)
        logits = self.fc(self.conv(images).mean(dim=(2, 3)))
        return lam * F.cross_entropy(logits, a) + (1 - lam) * F.cross_entropy(logits, b)


net = torch.compile(Net(), backend="eager")
for size in (4, 4, 6):
    net(torch.randn(size, 3, 8, 8), torch.randint(0, 5, (size,))).backward()
