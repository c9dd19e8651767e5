"""One line that a user of a file could write, for files of which nothing is analyzed without: what follows ``--entry``.

The same text may stand in the file, as ``# compile-lens: entry=…``.
"""

from __future__ import annotations

HELP = {
    "torch: nn/modules/adaptive.py": (
        "AdaptiveLogSoftmaxWithLoss(16, 100, cutoffs=[10, 50])(float32[8, 16], int64[8] < 100)"
    ),
    "packages: einops/layers/torch.py": (
        'EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=16, d=32)(float32[2, 8, 16])'
    ),
    "packages: x_transformers/nonautoregressive_wrapper.py": (
        "NonAutoregressiveWrapper(x_transformers.TransformerWrapper(num_tokens=100, max_seq_len=16, "
        "attn_layers=x_transformers.Encoder(dim=32, depth=1)), mask_id=1)(int64[2, 16] < 100)"
    ),
    "packages: vit_pytorch/nest.py": (
        "NesT(image_size=32, patch_size=8, num_classes=10, dim=32, heads=2, num_hierarchies=2, block_repeats=(1, 1))"
        "(float32[1, 3, 32, 32])"
    ),
    "packages: diffusers/models/unets/unet_2d.py": (
        "UNet2DModel(sample_size=32, block_out_channels=(32, 64, 64, 64))(float32[1, 3, 32, 32], timestep=10)"
    ),
    "packages: timm/models/resnet.py": "ResNet(BasicBlock, (1, 1, 1, 1))(float32[2, 3, 64, 64])",
}
