"""An MLP-Mixer that compiles clean.

What you should see: one region, one graph, no break and no recompile, however often
it is called. Decisions depend on the configuration, never on the data, and every
input has the same shape and dtype.
"""

import torch
import torch.nn as nn


class Mlp(nn.Sequential):
    def __init__(self, width: int, hidden: int):
        super().__init__(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


class MixerBlock(nn.Module):
    def __init__(self, patches: int, width: int):
        super().__init__()
        self.patch_norm = nn.LayerNorm(width)
        self.mix_patches = Mlp(patches, 2 * patches)
        self.channel_norm = nn.LayerNorm(width)
        self.mix_channels = Mlp(width, 4 * width)

    def forward(self, x):
        mixed = self.mix_patches(self.patch_norm(x).transpose(1, 2)).transpose(1, 2)
        x = x + mixed
        return x + self.mix_channels(self.channel_norm(x))


class Mixer(nn.Module):
    def __init__(self, size=32, patch=8, width=48, depth=3, classes=10):
        super().__init__()
        self.to_patches = nn.Conv2d(3, width, kernel_size=patch, stride=patch)
        patches = (size // patch) ** 2
        self.blocks = nn.ModuleList(MixerBlock(patches, width) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        x = self.to_patches(images).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))


def main():
    torch.manual_seed(0)
    model = Mixer().eval()
    model.compile(fullgraph=True)
    with torch.inference_mode():
        for _ in range(3):
            classes = model(torch.randn(4, 3, 32, 32)).argmax(dim=-1)
    print("classes:", classes.tolist())


if __name__ == "__main__":
    main()
