"""Options that several verbs share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from compile_lens.analysis.filters import DEFAULT_CAP, OFF
from compile_lens.analysis.finding import Severity
from compile_lens.cli.output_options import NEVER as NEVER
from compile_lens.cli.output_options import exit_code as exit_code
from compile_lens.cli.output_options import json_option as json_option
from compile_lens.cli.output_options import just_my_code_option as just_my_code_option
from compile_lens.cli.output_options import map_option as map_option
from compile_lens.cli.output_options import output_options as output_options
from compile_lens.pipeline.job_factory import Confinement
from compile_lens.settings.settings import LARGEST_NUMBER
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions
from compile_lens.workers.job import Depth, Substitution

F = TypeVar("F", bound=Callable[..., object])


def supply_options(command: F) -> F:
    """``--stand-in``, ``--missing-weights``, ``--missing-data`` and ``--missing-modules``: what a run substitutes for what is missing."""
    for name, text in (
        (
            "--missing-modules",
            "Replace modules that are not installed with stubs where a file is imported (auto), or let the import raise (off). See "
            "docs/entries.md.",
        ),
        (
            "--missing-data",
            "Replace missing data sets and arrays with a few made-up batches (auto), or run the program as it is (off). Always off "
            "with --no-sandbox. See docs/missing-data.md.",
        ),
        (
            "--missing-weights",
            "Replace missing pretrained weights with random ones (auto), or run the program as it is (off). Always off with "
            "--no-sandbox. See docs/missing-weights.md.",
        ),
        (
            "--stand-in",
            "Emulate missing GPUs and other processes on the CPU (auto), or run the program as it is (off). See docs/gpu.md.",
        ),
    ):
        choice = click.Choice([supply.value for supply in Substitution])
        command = click.option(name, type=choice, default=Substitution.AUTO.value, show_default=True, help=text)(
            command
        )
    return command


def depth_option(text: str) -> Callable[[F], F]:
    """``--depth``, with its help."""
    return click.option(
        "--depth",
        type=click.Choice([depth.value for depth in Depth]),
        default=Depth.DYNAMO.value,
        show_default=True,
        help=text,
    )


def max_findings_option(text: str) -> Callable[[F], F]:
    """``--max-findings``, with its help."""
    limit = click.IntRange(min=1)
    return click.option("--max-findings", type=limit, default=DEFAULT_CAP, show_default=True, metavar="N", help=text)


class Amount(click.FloatRange):
    """Seconds or gigabytes. A project's file may state any, of which timers and limits of the system would make errors."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails for one that is none, or that nothing lasts for."""
        number: float = super().convert(value, param, ctx)
        if not number <= LARGEST_NUMBER:
            self.fail(f"{value} is more than {LARGEST_NUMBER:,.0f}, or no number.", param, ctx)
        return number


def timeout_option(text: str, default: float = 120.0, name: str = "--timeout") -> Callable[[F], F]:
    """A time limit in seconds, with its help."""
    return click.option(
        name,
        type=Amount(min=0.1),
        default=default,
        show_default=True,
        metavar="SECONDS",
        help=text,
    )


def python_option(command: F) -> F:
    """``--python``."""
    option = click.option(
        "--python", metavar="PATH", help="Interpreter to run with.  [default: the nearest one that has torch]"
    )
    return option(command)


def severity_option(command: F) -> F:
    """``--severity``."""
    option = click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="CODE=LEVEL",
        callback=parse_severities,
        help="Set the severity of a code or a kind of finding, or turn it off: recompile=warning, GB0059=off. Repeatable.",
    )
    return option(command)


def sandbox_options(command: F) -> F:
    """``--no-sandbox`` and the options that configure the sandbox; the command gets them as ``confinement``.

    The user started the run and waits for it, so its priority is not lowered and it may use GPUs.
    """
    text = "Let the program use GPUs, or hide them."
    return _with_confinement(
        command, click.option("--gpu/--no-gpu", "uses_gpu", default=True, show_default=True, help=text)
    )


def sandbox_options_beside_gpu(command: F) -> F:
    """The same options, for a command whose ``--gpu`` names a device to compile for."""
    hides = click.option("--no-gpu", "uses_gpu", flag_value=False, default=True, help="Hide GPUs from the program.")
    return _with_confinement(command, hides)


def _with_confinement(command: F, gpu_option: Callable[[Any], Any]) -> F:
    @functools.wraps(command)
    def with_confinement(
        *args: object,
        no_sandbox: bool,
        allow_write: tuple[str, ...],
        allow_network: bool,
        uses_gpu: bool,
        memory: float,
        idle: float,
        **others: object,
    ) -> object:
        sandbox = SandboxOptions(tuple(map(os.path.abspath, allow_write)), allow_network, uses_gpu, niceness=0)
        access = Access.FULL if no_sandbox else Access.SANDBOXED
        confinement = Confinement(access, sandbox, ResourceLimits(memory_gib=memory, idle_s=idle))
        return command(*args, confinement=confinement, **others)

    confined: Callable[..., object] = with_confinement
    for option in (
        click.option(
            "--idle",
            type=Amount(min=0),
            default=0.0,
            show_default="never",
            metavar="SECONDS",
            help="End a run if nothing compiled for this long.",
        ),
        click.option(
            "--memory",
            type=Amount(min=0),
            default=0.0,
            show_default="half of the machine's",
            metavar="GIB",
            help="Memory limit (sandbox only).",
        ),
        gpu_option,
        click.option("--allow-network", is_flag=True, help="Let the program use the network.  [default: no network]"),
        click.option(
            "--allow-write",
            multiple=True,
            type=click.Path(),
            metavar="PATH",
            help="Let the program write to this file or folder. Repeatable.  [default: writes are discarded]",
        ),
        click.option(
            "--no-sandbox",
            is_flag=True,
            help="Run the program without a sandbox: it has all of your permissions, and its writes are kept.",
        ),
    ):
        confined = option(confined)
    return cast(F, confined)


def parse_severities(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    """Parse ``CODE=LEVEL`` pairs. Raises click.BadParameter."""
    levels = [*(severity.value for severity in Severity), OFF]
    found = {}
    for pair in pairs:
        code, _, level = pair.partition("=")
        if not code or level not in levels:
            raise click.BadParameter(f"'{pair}' is not CODE=LEVEL. LEVEL is one of {', '.join(levels)}.", param=option)
        found[code] = level
    return found
