"""The environments that the usual tools make for a project folder, wherever they put them."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path

# venv and uv; conda; the default environment of pixi
NAMES = (".venv", "venv", ".env", "env", ".conda", ".pixi/envs/default")
PIXI = ".pixi/envs"


def environments_of(folder: Path) -> Iterator[Path]:
    """The prefixes of environments that belong to ``folder``, the likeliest first. They need not exist."""
    if named := os.environ.get("UV_PROJECT_ENVIRONMENT"):
        yield folder / named
    for name in NAMES:
        yield folder / name
    yield from sorted((folder / PIXI).glob("*"))
    if (folder / "pyproject.toml").is_file():
        yield from _of_poetry(folder)


def python_of(prefix: Path) -> Path:
    """The interpreter of the environment at ``prefix``."""
    if os.name != "nt":
        return prefix / "bin" / "python"
    # conda and pixi put it at the top
    return prefix / "python.exe" if (prefix / "conda-meta").is_dir() else prefix / "Scripts" / "python.exe"


def _of_poetry(folder: Path) -> Iterator[Path]:
    """Poetry names an environment by the project and a hash of its folder: poetry/utils/env/env_manager.py, `generate_env_name`."""
    project = os.path.normcase(os.path.realpath(folder))
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(project)).digest()).decode()[:8]
    found = _poetry_environments().glob(f"*-{digest}-py*")
    yield from sorted(found, key=lambda prefix: prefix.stat().st_mtime, reverse=True)


def _poetry_environments() -> Path:
    # a relative one would be in the current folder, which is often a workspace
    if (path := Path(os.environ.get("POETRY_VIRTUALENVS_PATH", ""))).is_absolute():
        return path
    cache = Path(os.environ.get("POETRY_CACHE_DIR", ""))
    return (cache if cache.is_absolute() else user_cache_path("pypoetry", appauthor=False)) / "virtualenvs"
