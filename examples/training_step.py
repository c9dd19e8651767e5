"""A training loop whose inputs change from step to step.

What you should see: nothing breaks, but the step is compiled five times, because of

- `tokens`  a longer sequence: compiled again, this time for any length;
- `scale`   a Python float: compiled for its first value, then again for any value;
- `labels`  the last, smaller batch: compiled again for any batch size;
- `no_grad()` around the evaluation, which makes another program of it.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, vocabulary=100, width=32, classes=4):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.hidden = nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.embed(tokens).mean(dim=1)
        return self.out(self.dropout(F.relu(self.hidden(x))))


@torch.compile
def scaled_loss(model, tokens, labels, scale):
    return F.cross_entropy(model(tokens), labels) * scale


def random_batch(size, length):
    return torch.randint(0, 100, (size, length)), torch.randint(0, 4, (size,))


def main():
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [(8, 16), (8, 24), (8, 40), (8, 24), (5, 32)]
    scales = [1.0, 1.0, 1.0, 2.0, 4.0]

    for step, ((size, length), scale) in enumerate(zip(batches, scales)):
        tokens, labels = random_batch(size, length)
        loss = scaled_loss(model, tokens, labels, scale)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}: {size} x {length}, loss {loss.item():.3f}")

    model.eval()
    with torch.no_grad():
        loss = scaled_loss(model, *random_batch(8, 24), 1.0)
    print(f"held out: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
