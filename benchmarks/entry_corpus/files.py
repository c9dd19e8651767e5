"""The files: modelling files of transformers, torch's own modules, packages that were downloaded, scripts in common styles."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OWN = Path(__file__).parent / "own"
ARCHITECTURES = """
albert bart beit bert bloom clip convbert convnext convnextv2 ctrl deit dinov2 distilbert electra falcon gemma gpt2 gpt_neo gpt_neox hubert
llama mamba mistral mixtral mobilevit mpnet opt phi pegasus qwen2 regnet resnet roberta segformer squeezebert swin t5 vit wav2vec2 whisper
"""
TORCH = """
nn/modules/activation nn/modules/adaptive nn/modules/batchnorm nn/modules/conv nn/modules/distance nn/modules/dropout nn/modules/fold
nn/modules/linear nn/modules/loss nn/modules/normalization nn/modules/pixelshuffle nn/modules/pooling nn/modules/rnn nn/modules/sparse
nn/modules/transformer nn/modules/upsampling
"""
# files below the folder of packages.py
DOWNLOADED = """
einops/layers/torch.py
x_transformers/x_transformers.py x_transformers/attend.py x_transformers/continuous.py x_transformers/nonautoregressive_wrapper.py
vit_pytorch/vit.py vit_pytorch/simple_vit.py vit_pytorch/cait.py vit_pytorch/cross_vit.py vit_pytorch/deepvit.py vit_pytorch/levit.py
vit_pytorch/local_vit.py vit_pytorch/max_vit.py vit_pytorch/mobile_vit.py vit_pytorch/nest.py vit_pytorch/parallel_vit.py vit_pytorch/pit.py
vit_pytorch/t2t.py vit_pytorch/twins_svt.py vit_pytorch/vivit.py vit_pytorch/cct.py vit_pytorch/rvt.py
diffusers/models/resnet.py diffusers/models/embeddings.py diffusers/models/activations.py diffusers/models/normalization.py
diffusers/models/attention.py diffusers/models/downsampling.py diffusers/models/unets/unet_2d.py
diffusers/models/autoencoders/autoencoder_kl.py
timm/layers/mlp.py timm/layers/drop.py timm/layers/squeeze_excite.py timm/models/resnet.py timm/models/vision_transformer.py
timm/models/convnext.py timm/models/mlp_mixer.py
rotary_embedding_torch/rotary_embedding_torch.py performer_pytorch/performer_pytorch.py local_attention/local_attention.py
"""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the corpus: its group, how it is called in the table, and where it is."""

    group: str
    name: str
    path: Path

    @property
    def is_there(self) -> bool:
        """Whether it could be found: a package may have moved it."""
        return self.path.is_file()


def corpus(downloaded: Path) -> Iterator[File]:
    """All files; ``downloaded`` is the folder of the packages."""
    for name in ARCHITECTURES.split():
        path = _installed("transformers") / "models" / name / f"modeling_{name}.py"
        yield File("transformers", path.name, path)
    for name in TORCH.split():
        yield File("torch", f"{name}.py", _installed("torch") / f"{name}.py")
    for name in DOWNLOADED.split():
        yield File("packages", name, downloaded / name)
    for path in sorted(OWN.glob("*.py")):
        yield File("files in common styles", path.name, path)


def _installed(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent
