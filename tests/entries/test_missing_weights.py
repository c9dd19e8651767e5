"""Programs whose weights are not here: what stands in for them, what is told of it, and that the program's own ways stay its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.workers.access import Access, SandboxOptions
from compile_lens.workers.command import command_of
from compile_lens.workers.job import Job, Substitution
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")


def run(host: WarmHost, folder: Path, text: str, **how: object) -> Outcome:
    file = folder / "program.py"
    file.write_text(text)
    return host.run(Job(str(file), timeout_s=300.0, **how))  # type: ignore[arg-type]


def told(outcome: Outcome) -> list[tuple[str, int]]:
    return [(finding.code, finding.place.line) for finding in outcome.findings]


PRETRAINED = """\
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer, BertConfig, BertModel, GPT2Model

small = BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48)
small.save_pretrained("local")
random = torch.get_rng_state()
local = AutoModel.from_pretrained("local", dtype=torch.bfloat16, attn_implementation="eager")
given = BertModel.from_pretrained("nobody/anything", config=small, add_pooling_layer=False)
again = BertModel.from_pretrained("nobody/anything", config=small, add_pooling_layer=False)
llama = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
gpt = GPT2Model.from_pretrained("nobody/anything", n_embd=64, n_head=4, n_layer=1)
config = AutoConfig.from_pretrained("google/gemma-2-2b")
tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-2-7b-hf", padding_side="left")

assert torch.equal(random, torch.get_rng_state())
assert local.dtype is torch.bfloat16 and local.config._attn_implementation == "eager" and not local.training
assert local.config.hidden_size == 32 and given.pooler is None
assert all(map(torch.equal, given.state_dict().values(), again.state_dict().values()))
assert llama.config.num_hidden_layers < 32 and llama.config.vocab_size == 32000
assert llama.config.num_key_value_heads == llama.config.num_attention_heads
assert gpt.wte.weight.std() > 0 and gpt.config.n_embd == 64
assert config.model_type == "gemma2" and len(config.layer_types) == config.num_hidden_layers < 26
try:
    AutoModel.from_pretrained("bert-base-uncased")
except OSError:
    print("its own way")
else:
    raise SystemExit(3)

llama.forward = torch.compile(llama.forward)
tokenizer.pad_token = tokenizer.eos_token
batch = tokenizer(["hello", "a longer text"], return_tensors="pt", padding=True)
assert batch["input_ids"].max() < 300 and batch["attention_mask"].tolist()[0][0] == 0
tokens = llama.generate(**batch, max_new_tokens=2, do_sample=False)
assert tokenizer.batch_decode(batch["input_ids"], skip_special_tokens=True) == ["hello", "a longer text"]
tokenizer.batch_decode(tokens)
AutoModel.from_pretrained("nobody/anything")
"""


def test_pretrained_models_have_random_weights_and_each_line_says_from_where(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    pytest.importorskip("transformers")
    outcome = run(warm_host, tmp_path, PRETRAINED)
    line_of = {text.partition(" ")[0]: number for number, text in enumerate(PRETRAINED.splitlines(), 1)}
    found = {
        finding.place.line: finding for finding in outcome.findings if finding.kind.value in ("stand-in", "refused")
    }
    codes = {line: finding.code for line, finding in found.items()}
    assert codes == {
        **{line_of[name]: "random-weights" for name in ("local", "given", "again", "llama", "gpt")},
        line_of["config"]: "default-configuration",
        line_of["tokenizer"]: "byte-tokenizer",
    }
    words = {name: found[line_of[name]].message for name in ("local", "given", "llama", "gpt", "config")}
    assert words["local"].endswith("`BertModel` with the `BertConfig` on this machine.")
    assert words["given"].endswith("`BertModel` with the program's own `BertConfig`.")
    assert "the default `LlamaConfig` (inferred from the name), made smaller (" in words["llama"]
    assert words["gpt"].endswith("`GPT2Model` with the default `GPT2Config`.")
    assert "num_hidden_layers 26 → 2" in words["config"]
    severities = {name: found[line_of[name]].severity.value for name in ("local", "given", "llama", "gpt")}
    assert severities == {"local": "information", "given": "information", "llama": "warning", "gpt": "warning"}
    # what is compiled with them is analyzed, and an architecture that nothing tells ends the program as ever
    assert outcome.graphs >= 2
    (error,) = [finding for finding in outcome.findings if finding.severity.value == "error"]
    assert (error.code, error.place.line) == ("missing-data", len(PRETRAINED.splitlines()))
    assert any("config.json" in hint for hint in error.hints)


CHECKPOINT = """\
import torch

model = torch.nn.Linear(3, 3)
before = model.weight.clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.load_state_dict(torch.load("weights.pt", weights_only=True))
saved = torch.load("last.pt", map_location="cpu")
state = saved["model"] if isinstance(saved, dict) and "model" in saved else saved
model.load_state_dict({name.replace("module.", ""): value for name, value in state.items()})
optimizer.load_state_dict(saved["optimizer"])
url = torch.hub.load_state_dict_from_url("https://example.org/weights.pth", progress=False)
model.load_state_dict(url, strict=False)
try:
    start = torch.load("resume.pt")["epoch"]
    model.load_state_dict(torch.load("resume.pt"))
except FileNotFoundError:
    start = 0
assert start == 0 and torch.equal(model.weight, before)


@torch.compile
def step(x):
    print(x)
    return model(x)


step(torch.ones(2, 3))
print(saved["epoch"] + 1)
"""


def test_a_missing_checkpoint_leaves_what_would_get_it_as_it_was_made(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, CHECKPOINT)
    lines = CHECKPOINT.splitlines()
    line_of = {
        start: next(n for n, text in enumerate(lines, 1) if text.startswith(start))
        for start in ("model.load", "saved", "url")
    }
    expected = [("missing-checkpoint", line) for line in sorted(line_of.values())]
    broken = ("GB0059", lines.index("    print(x)") + 1)
    assert told(outcome) == [*expected, broken, ("missing-data", len(lines))]
    assert "`last.pt`" in outcome.findings[-1].message
    # a value that does not go to `load_state_dict` is not made up, and neither is anything when it is switched off
    for text, how in (
        ("import torch\n\nx = torch.load('x.pt')\ntorch.compile(torch.sin)(x)\n", {}),
        (
            "import torch\n\ntorch.nn.Linear(1, 1).load_state_dict(torch.load('x.pt'))\n",
            {"missing_weights": Substitution.OFF},
        ),
    ):
        assert told(run(warm_host, tmp_path, text, **how)) == [("missing-data", 3)]


DOWNLOADED = """\
import os
from urllib.request import urlretrieve

import torch
from huggingface_hub import hf_hub_download


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        path = hf_hub_download("nobody/nothing", filename="net.pt")
        self.inner = torch.nn.Linear(3, 3)
        self.read(path)

    def read(self, path):
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        state = torch.load(path)
        self.inner.load_state_dict(state)

    def forward(self, x):
        return self.inner(x)


urlretrieve("https://example.invalid/a.pth", "a.pth")
other = torch.nn.Linear(3, 3)
other.load_state_dict(torch.load("a.pth"))
torch.compile(Net())(other(torch.ones(2, 3)))
try:
    hf_hub_download("nobody/nothing", "net.pt")
except OSError:
    print("its own way")
else:
    raise SystemExit(3)
"""


def test_weights_that_are_downloaded_to_a_file_and_loaded_from_there(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, DOWNLOADED)
    lines = DOWNLOADED.splitlines()
    loaded = [(number, text) for number, text in enumerate(lines, 1) if "torch.load(" in text]
    found = [finding for finding in outcome.findings if finding.code == "missing-checkpoint"]
    assert [finding.place.line for finding in found] == [number for number, _ in loaded]
    # by what the program asked for, and not by the file in its place
    assert [name in f.message for name, f in zip(("nobody/nothing/net.pt", "/a.pth"), found, strict=True)] == [
        True,
        True,
    ]
    assert outcome.graphs == 1
    assert {finding.severity.name for finding in outcome.findings} == {"INFORMATION"}
    # what reads such a file as anything else gets the error of the download
    for other in ("torch.jit.load(path)", "torch.load(path)"):
        text = DOWNLOADED[: DOWNLOADED.index("try:")] + f'path = hf_hub_download("a/b", "c.pt")\n{other}\n'
        last = run(warm_host, tmp_path, text).findings[-1]
        assert (last.code, "a/b/c.pt" in last.message) == ("missing-data", True), last.message
    # and where no state of a model is loaded, nothing is in its place
    plain = 'from huggingface_hub import hf_hub_download\n\nopen(hf_hub_download("a/b", "c.bin")).read()\n'
    assert told(run(warm_host, tmp_path, plain))[-1] == ("missing-data", 3)


KEPT = """\
import os
from urllib.request import urlretrieve

import torch

if not os.path.exists("weights/model.pth"):
    urlretrieve("https://example.invalid/model.pth", "weights/model.pth")
model = torch.nn.Linear(3, 3)
model.load_state_dict(torch.load("weights/model.pth"))
torch.compile(model)(torch.ones(2, 3))
"""


def test_no_file_stands_for_weights_where_it_would_stay(tmp_path: Path, warm_host: WarmHost) -> None:
    """The next run of the user's own would take it for the weights."""
    outcome = run(warm_host, tmp_path, KEPT, sandbox=SandboxOptions(allow_write=(str(tmp_path),)))
    assert (("missing-checkpoint", 9) in told(outcome), outcome.graphs) == (True, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_a_run_as_the_users_own_is_left_alone(tmp_path: Path, warm_host: WarmHost) -> None:
    job = Job(str(tmp_path / "program.py"))
    assert command_of(job).missing_weights is Substitution.AUTO
    assert command_of(replace(job, access=Access.FULL)).missing_weights is Substitution.OFF
    text = "import torch\n\ntorch.nn.Linear(1, 1).load_state_dict(torch.load('x.pt'))\n"
    outcome = run(warm_host, tmp_path, text, access=Access.FULL)
    assert (outcome.status, told(outcome)) == (Status.RAISED, [("missing-data", 3)])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bert-base-uncased", "bert"),
        ("google-bert/bert-base-uncased", "bert"),
        ("distilroberta-base", "roberta"),
        ("xlm-roberta-base", "xlm-roberta"),
        ("google/gemma-2-2b", "gemma2"),
        ("Qwen/Qwen2.5-0.5B-Instruct", "qwen2"),
        ("EleutherAI/gpt-j-6b", "gptj"),
        ("facebook/opt-125m", "opt"),
        ("./checkpoints/llama/", "llama"),
        ("adopted/nothing", None),
        ("someone/adopted", None),
        ("", None),
    ],
)
def test_what_a_name_tells(name: str, kind: str | None) -> None:
    known = ("bert", "gemma", "gemma2", "gptj", "llama", "opt", "qwen2", "roberta", "xlm-roberta")
    assert agent_module("substitutes.weights.transformers_models").architecture_of(name, known) == kind
