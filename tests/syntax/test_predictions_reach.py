"""Which code predictions are made for: what a region reaches in its file, and what guards, marks and switches leave out."""

from __future__ import annotations

from textwrap import dedent

import pytest

from compile_lens.syntax.predictions.predict import functions_reached, predict

HEADER = "import warnings\nimport torch\nfrom torch import nn\nfrom torch.utils.checkpoint import checkpoint\n"


def functions(source: str) -> list[str]:
    """The functions in which something is predicted."""
    return [prediction.function for prediction in predict(HEADER + dedent(source))]


def test_nothing_outside_of_a_region() -> None:
    assert functions("def f(x):\n    print(x)\n") == []


def test_nothing_in_what_is_exported() -> None:
    assert functions("def f(x):\n    print(x)\ntorch.export.export(f, (1,))\n") == []


def test_functions_that_are_called() -> None:
    source = """
        def unused(x):
            print(x)

        def inner(x):
            return x.sum().item()

        def outer(x):
            return inner(x)

        @torch.compile
        def f(x: torch.Tensor):
            return checkpoint(outer, x)
        """
    assert functions(source) == ["inner"]
    text = HEADER + dedent(source)
    lines = text.split("\n")
    assert [lines[line - 1] for line in sorted(functions_reached(text))] == [
        "def inner(x):",
        "def outer(x):",
        "@torch.compile",
    ]


def test_methods_submodules_and_lists_of_them() -> None:
    source = """
        class Block(nn.Module):
            def forward(self, x):
                print(x)
                return x

        class Head(nn.Module):
            def forward(self, x):
                return x.max().item()

        class Other(nn.Module):
            def forward(self, x):
                return x.tolist()

        class Base(nn.Module):
            def check(self, x):
                if x.isnan().any():
                    return x
                return x

        class Net(Base):
            def __init__(self, big=False):
                super().__init__()
                self.blocks = nn.ModuleList([Block() for _ in range(2)])
                self.head = Head() if big else Other()
                self.register_buffer("limit", torch.zeros(1))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                if self.limit > 0:
                    return x
                return self.head(self.check(x))

        model = torch.compile(Net())
        """
    assert functions(source) == ["Block.forward", "Head.forward", "Other.forward", "Base.check", "Net.forward"]


@pytest.mark.parametrize("compiled", ["model.compile()", "torch.compile(model)", "torch.compile(model.forward)"])
def test_ways_to_compile_a_model(compiled: str) -> None:
    source = f"""
        class Net(nn.Module):
            def forward(self, x):
                return x.max().item()

        model = Net().eval()
        {compiled}
        """
    assert functions(source) == ["Net.forward"]


@pytest.mark.parametrize(
    "guard",
    [
        "if not torch.compiler.is_compiling():",
        "if torch.jit.is_scripting():",
        "if not torch.compiler.is_compiling() and x.sum() > 0:",
        "if DEBUG:",
        "if mask is not None:",
        "if False:",
    ],
)
def test_code_that_is_not_traced(guard: str) -> None:
    source = f"""
        DEBUG = False

        def g(x, mask=None):
            {guard}
                print(x)
            return x

        @torch.compile
        def f(x):
            return g(torch.sin(x))
        """
    assert functions(source) == []


def test_code_behind_a_return_that_is_certain() -> None:
    source = """
        @torch.compile
        def f(x):
            if torch.compiler.is_compiling():
                return x
            print(x)
        """
    assert functions(source) == []


def test_a_disabled_function_is_a_break_and_is_not_followed() -> None:
    source = """
        @torch.compiler.disable
        def eager(x):
            print(x)

        @torch.compile
        def f(x):
            eager(x)
            return x
        """
    (prediction,) = predict(HEADER + dedent(source))
    assert (prediction.rule, prediction.code, prediction.function) == ("disabled-call", "GB0098", "f")


@pytest.mark.parametrize(
    ("switch", "left"),
    [
        ("", ["tensor-item", "tensor-branch", "dynamic-shape", "print"]),
        (
            "torch._dynamo.config.capture_scalar_outputs = True",
            ["tensor-branch", "tensor-branch", "dynamic-shape", "print"],
        ),
        ("torch._dynamo.config.capture_dynamic_output_shape_ops = True", ["tensor-item", "tensor-branch", "print"]),
        (
            "torch._dynamo.config.reorderable_logging_functions.add(print)",
            ["tensor-item", "tensor-branch", "dynamic-shape"],
        ),
    ],
)
def test_switches_of_the_same_file(switch: str, left: list[str]) -> None:
    source = f"""
        {switch}

        @torch.compile
        def f(x: torch.Tensor):
            if x.max().item() > 3:
                return x
            if x.sum() > 3:
                return x
            x = x.nonzero()
            print("done")
            return x
        """
    assert sorted(found.rule for found in predict(HEADER + dedent(source))) == sorted(left)


def test_fullgraph_makes_a_break_an_error() -> None:
    source = "@torch.compile(fullgraph={})\ndef f(x):\n    print(x)\n"
    for fullgraph in (True, False):
        (prediction,) = predict(HEADER + source.format(fullgraph))
        assert prediction.is_error is fullgraph


def test_two_regions_that_lead_to_one_place() -> None:
    source = """
        def helper(x):
            print(x)

        @torch.compile
        def one(x):
            helper(x)

        @torch.compile
        def two(x):
            helper(x)
        """
    (prediction,) = predict(HEADER + dedent(source))
    assert [region.name for region in prediction.regions] == ["one", "two"]


def test_recursion_comes_to_an_end() -> None:
    source = """
        @torch.compile
        def f(x: torch.Tensor):
            if x.sum() > 0:
                return f(x - 1)
            return x
        """
    assert functions(source) == ["f"]
