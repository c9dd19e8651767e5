"""``python -m tests.messages --update`` writes docs/messages.md; with ``--examples`` it runs the product for the examples first."""

from __future__ import annotations

import sys

import click
from tests.messages.examples import load, match, still_right, store
from tests.messages.page import PAGE, all_templates, render
from tests.messages.templates import ROOT

# the tests' modules import each other by their bare names
sys.path.append(str(ROOT / "tests"))


@click.command()
@click.option("--update", is_flag=True, help="Write the page from the source and the stored examples (a second).")
@click.option("--examples", is_flag=True, help="Also run the product for new examples (some minutes).")
def main(update: bool, examples: bool) -> None:
    """Print how many message templates there are, and renew their page."""
    templates = all_templates()
    if examples:
        from tests.messages.observed import said, written

        store(match(templates, said(), written(), load()))
    if update or examples:
        kept = still_right(templates, load())
        store(kept)
        PAGE.write_text(render(templates, kept))
    with_example = len(still_right(templates, load()))
    click.echo(f"{len({template.text for template in templates})} templates, {with_example} with an example")


main()
