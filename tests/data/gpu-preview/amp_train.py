import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, d=512, h=2048, layers=3):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(layers))
        self.ups = nn.ModuleList(nn.Linear(d, h) for _ in range(layers))
        self.downs = nn.ModuleList(nn.Linear(h, d) for _ in range(layers))
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(d, 100)

    def forward(self, x):
        for norm, up, down in zip(self.norms, self.ups, self.downs):
            x = x + self.drop(down(nn.functional.gelu(up(norm(x)))))
        return self.head(x)


def main():
    torch.manual_seed(0)
    device = "cuda"
    model = Net().to(device)
    compiled = torch.compile(model)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    scaler = torch.amp.GradScaler(device)
    for step in range(3):
        x = torch.randn(128, 512, device=device)
        y = torch.randint(0, 100, (128,), device=device)
        opt.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.float16):
            loss = nn.functional.cross_entropy(compiled(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
    print("done")


if __name__ == "__main__":
    main()
