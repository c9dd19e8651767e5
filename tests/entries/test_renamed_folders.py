"""A folder that the files of a project import under another name than it has here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = "import torch\nclass Net(torch.nn.Linear):\n    pass\n"
IN_ITSELF = {
    "PKG-INFO": "Name: shop\n",
    "setup.py": "",
    "shop/__init__.py": "",
    "shop/losses.py": "def loss(x):\n    return x.sum()\n",
    "models/nets.py": NET,
}
IMPORTS = "from shop.models.nets import Net\nfrom shop.shop.losses import loss\n"
TRAIN = f"{IMPORTS}\nimport torch\n\nnet = Net(4, 2)\nloss(net(torch.ones(3, 4))).backward()\n"
AS_SOURCE = {"setup.py": "setup(package_dir={'wares': 'code'})", "code/nets.py": NET, "code/parts/steps.py": "STEP = 1"}


def found(folder: Path, files: dict[str, str], package: str, text: str, *there: str) -> tuple[str, int] | None:
    project(folder, files)
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    near = str(folder / "examples")
    known = tuple(str(folder / each) for each in there)
    result = agent_module("inputs.importing.renamed_folders").renamed_folder(str(folder), near, package, imports, known)
    return (str(Path(result.path).relative_to(folder)), result.satisfied) if result is not None else None


@pytest.mark.parametrize(
    ("files", "package", "text", "there", "wanted"),
    [
        # the repository itself was the package
        (IN_ITSELF | {"examples/a.py": IMPORTS}, "shop", IMPORTS, ["shop"], (".", 2)),
        # the name of its setup, and a sign that no module's name may have
        (AS_SOURCE, "wares", "from wares.nets import Net", [], ("code", 1)),
        ({"deep-nets/nets.py": NET}, "deep_nets", "from deep_nets.nets import Net", [], ("deep-nets", 1)),
        # no other sign than that all is there
        (
            {"code/nets.py": NET, "code/parts.py": "A = 1", "examples/a.py": "from unknown.parts import A"},
            "unknown",
            "from unknown.nets import Net",
            [],
            ("code", 2),
        ),
        # a library has modules of the same names: something is missing, it is required, or it is one module
        (
            {"code/nets.py": NET, "examples/a.py": "import unknown.b"},
            "unknown",
            "from unknown.nets import Net",
            [],
            None,
        ),
        (
            {
                "code/nets.py": NET,
                "code/b.py": "",
                "examples/a.py": "import unknown.b",
                "requirements.txt": "unknown>2",
            },
            "unknown",
            "from unknown.nets import Net",
            [],
            None,
        ),
        ({"code/nets.py": NET}, "unknown", "from unknown.nets import Net", [], None),
        # what it lacks is nowhere, such as an extension that was not built
        (IN_ITSELF, "shop", "from shop._C import kernel", ["shop"], None),
    ],
)
def test_the_folder_that_satisfies_the_imports(
    tmp_path: Path, files: dict[str, str], package: str, text: str, there: list[str], wanted: tuple[str, int] | None
) -> None:
    assert found(tmp_path, files, package, text, *there) == wanted


def test_a_script_of_a_package_that_was_the_repository(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, IN_ITSELF | {"examples/train.py": TRAIN})
    outcome = run(warm_host, tmp_path / "examples" / "train.py")
    assert [call.target for call in outcome.calls] == ["Net"], outcome.failure
    (told,) = (note for note in outcome.notes if note.startswith("Used the folder"))
    assert f"`{tmp_path}` as `shop`: it satisfies 2 of the project's imports" in told
