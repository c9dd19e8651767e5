import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(100, 16)
        self.first = nn.LSTM(16, 32, num_layers=2, batch_first=True, bidirectional=True)
        self.second = nn.GRU(64, 24, batch_first=True)
        self.tags = nn.Linear(24, 5)

    def forward(self, words):
        hidden, _ = self.first(self.words(words))
        hidden, _ = self.second(hidden.relu())
        return self.tags(hidden)


@torch.compile
def cell_loss(cell, step, state):
    hidden, _ = cell(step, state)
    return hidden.square().mean()


model = torch.compile(Tagger().cuda())
cell = nn.LSTMCell(16, 8, device="cuda")
for length in (12, 9, 7):
    words = torch.randint(0, 100, (4, length), device="cuda")
    model(words).sum().backward()
    step = torch.randn(length, 16, device="cuda")
    cell_loss(cell, step, (torch.zeros(length, 8, device="cuda"), torch.zeros(length, 8, device="cuda"))).backward()
