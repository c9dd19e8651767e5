import torch
from torch import nn


class CellStack(nn.Module):
    def __init__(self, n_in=64, n_hid=128):
        super().__init__()
        self.cell = nn.LSTMCell(n_in, n_hid)
        self.out = nn.Linear(n_hid, 9)

    def forward(self, xs):
        h = xs.new_zeros(xs.size(1), 128)
        c = xs.new_zeros(xs.size(1), 128)
        outs = []
        for x in xs.unbind(0):
            h, c = self.cell(x, (h, c))
            outs.append(self.out(h))
        return torch.stack(outs)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(500, 64)
        self.rnn = nn.LSTM(64, 64, batch_first=True, bidirectional=True)
        self.cells = CellStack(128)

    def forward(self, ids):
        y, _ = self.rnn(self.emb(ids))
        return self.cells(y.transpose(0, 1))


m = Tagger().cuda()
f = torch.compile(m)
ids = torch.randint(0, 500, (4, 6), device="cuda")
loss = f(ids).log_softmax(-1).square().mean()
loss.backward()
print(loss.item())
