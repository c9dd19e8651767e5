"""The drawing of files that nobody chose: the same for a seed, and never of one package alone."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.draw import candidates, drawn
from tests.corpus.outcomes import inheriting, main_model

MODEL = "import torch\n\n\nclass Net{n}(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
SCRIPT = "import torch\n\nif __name__ == '__main__':\n    torch.ones(1).sum().backward()\n"


def packages(folder: Path) -> list[Path]:
    for name, count in (("large", 30), ("small", 4)):
        (folder / name / "tests").mkdir(parents=True)
        (folder / name / "tests" / "test_net.py").write_text(MODEL.format(n=0))
        (folder / name / "train.py").write_text(SCRIPT)
        (folder / name / "words.py").write_text("WORDS = 'torch'\n")
        for number in range(count):
            (folder / name / f"net{number}.py").write_text(MODEL.format(n=number))
    return [folder / "large", folder / "small"]


def test_a_draw(tmp_path: Path) -> None:
    folders = packages(tmp_path)
    assert len(list(candidates(folders[1]))) == 5
    first = drawn(folders, 10, 3)
    assert first == drawn(folders, 10, 3) != drawn(folders, 10, 4)
    assert len(set(first)) == 10
    assert {file.parent.name for file in first} == {"large", "small"}
    # all there is, and no more
    assert len(drawn(folders, 100, 3)) == 36


def test_the_main_model_is_what_uses_most_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(MODEL.format(n=1) + MODEL.format(n=2).replace("return x", "return Net1()(x)") + MODEL.format(n=3))
    assert main_model(file) == "Net2"


def test_a_class_that_inherits_forward_runs_that_of_the_main_model(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(
        "class Base(nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "class Same(Base):\n    pass\n\n\nclass Heir(Same):\n    pass\n\n\n"
        "class Other(Base):\n    def forward(self, x):\n        return -x\n"
    )
    assert inheriting(file, "Base") == {"Same", "Heir"}
