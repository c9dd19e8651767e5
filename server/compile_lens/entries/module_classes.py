"""Finds the classes of a file that are modules, and those that may be: what they inherit is in another file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import tree_sitter

from compile_lens.syntax.definitions import Definition, definitions, qualified_name
from compile_lens.syntax.tree import Query, SourceTree, kept_with_tree

_CLASSES = Query("(class_definition) @class")
# a class that inherits `forward` from one with such a name is most often a module
_LIKE_A_MODULE = re.compile(
    r"\w*(?:Model|Net|Network|Layer|Block|Encoder|Decoder|Head|Backbone|Transformer|Attention|Generator|Discriminator|Classifier|Regressor"
    r"|Estimator|Autoencoder|VAE|GAN|Unet|UNet|ResNet|CNN|RNN|LSTM|GRU|MLP|GNN|Policy|Critic|Actor|Flow|Loss|Embedding|Embedder|Extractor"
    r"|Detector|Segmentor|Predictor|Interface|Task|Base\w*)"
)
MOST_HEIRS = 20
MOST_ANCESTORS = 30


def is_called_like_a_module(name: str) -> bool:
    """Whether a class of this name is a module, as far as names tell."""
    return _LIKE_A_MODULE.fullmatch(name) is not None


@kept_with_tree
def module_classes(tree: SourceTree) -> tuple[Definition, ...]:
    """The top-level classes that are modules: by their bases in or outside the file, or because they have a ``forward``."""
    known = definitions(tree)
    top = {d.name: d for d in known if d.kind == "class" and "." not in d.qualified_name}
    bases = bases_of(tree)
    defined = {d.qualified_name for d in known if d.name == "forward" and d.kind == "function"}
    abstract = {name.rpartition(".")[0] for name in defined & unimplemented(tree)}
    forwards = {name.rpartition(".")[0] for name in defined} - abstract
    # a model that is only trained may have no `forward`
    steps = {d.qualified_name.rpartition(".")[0] for d in known if d.name == "training_step"}

    def is_module(name: str) -> bool:
        return any(
            each in forwards
            or each in abstract
            or any(
                base.rpartition(".")[2] in ("Module", "Sequential", "LightningModule", "ModuleList")
                for base in bases.get(each, ())
            )
            for each in ancestry(name, bases, top)
        )

    def calls_forward(name: str) -> bool:
        own = forwards | steps
        return any(
            each in own
            or (
                each not in abstract
                and any(base not in top and not base.endswith("Module") for base in bases.get(each, ()))
            )
            for each in ancestry(name, bases, top, abstract)
        )

    return tuple(
        d
        for d in top.values()
        if is_module(d.name)
        and calls_forward(d.name)
        and not any(base.rpartition(".")[2] in ("Function", "ABC") for base in bases.get(d.name, ()))
    )


def ancestry(
    name: str,
    bases: Mapping[str, Sequence[str]],
    among: Collection[str] | None = None,
    closed: Collection[str] = (),
) -> Iterator[str]:
    """A class and those of the file that it inherits from, each once, the nearest ones: ``among`` these, where they are told, and not by
    way of one that is ``closed``."""
    own = bases if among is None else among
    found = {name: None}
    for each in (waiting := [name]):
        yield each
        if each in closed:
            continue
        more = [base for base in bases.get(each, ()) if base in own and base not in found]
        waiting += more[: MOST_ANCESTORS - len(waiting)]
        found |= dict.fromkeys(more)


def with_other_methods(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """The top-level classes that are modules with no ``forward``, and have public methods that take something: `loss(self, x, y)`. Not
    those from which others of the file inherit."""
    bases = bases_of(tree)
    certain = {d.name for d in module_classes(tree)}
    inherited = {base for names in bases.values() for base in names}
    open_ones = {name.rpartition(".")[0] for name in unimplemented(tree)}
    public = {
        d.qualified_name.rpartition(".")[0]
        for d in known
        if d.kind == "function" and not d.name.startswith("_") and len(d.parameters) > 1
    }
    return [
        d
        for d in known
        if d.kind == "class"
        and "." not in d.qualified_name
        and d.name in public - certain - inherited - open_ones
        and any(base.rpartition(".")[2] == "Module" for base in bases.get(d.name, ()))
    ]


def heirs(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """The top-level classes that may inherit ``forward`` from a class of another file; the last ones, of very many."""
    if "torch" not in tree.text:
        return []
    top = {d.name: d for d in known if d.kind == "class" and "." not in d.qualified_name}
    bases = bases_of(tree)
    certain = {d.name for d in module_classes(tree)}
    abstract = {name.rpartition(".")[0] for name in unimplemented(tree) if name.endswith(".forward")}

    def may_inherit(name: str) -> bool:
        return any(
            (base not in top or base == each) and _LIKE_A_MODULE.fullmatch(base.rpartition(".")[2]) is not None
            for each in ancestry(name, bases, top)
            for base in bases.get(each, ())
        )

    found = [d for d in top.values() if d.name not in certain | abstract and may_inherit(d.name)]
    return found[-MOST_HEIRS:]


def open_bases(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """The top-level classes with a ``forward`` that are not modules to call, since they are abstract: subclasses run what they define."""
    aside = {d.name for d in (*module_classes(tree), *heirs(tree, known), *autograd_functions(tree, known))}
    defined = {d.qualified_name.rpartition(".")[0] for d in known if d.name == "forward" and d.kind == "function"}
    is_top_class = (d.kind == "class" and "." not in d.qualified_name for d in known)
    return [d for d, is_it in zip(known, is_top_class, strict=True) if is_it and d.name in defined - aside]


def without_usual_call(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """The ``open_bases`` that leave nothing but ``forward`` open, and from which no other class of the file inherits: other methods are
    called in its place."""
    inherited = {base for names in bases_of(tree).values() for base in names}
    open_ones = unimplemented(tree)
    return [
        d
        for d in open_bases(tree, known)
        if d.name not in inherited
        and f"{d.name}.forward" in open_ones
        and not any(name.startswith(f"{d.name}.") and name != f"{d.name}.forward" for name in open_ones)
    ]


def autograd_functions(tree: SourceTree, known: tuple[Definition, ...]) -> list[Definition]:
    """The top-level classes that define how a function is computed and differentiated: `class Round(torch.autograd.Function)`."""
    bases = bases_of(tree)
    defined = {d.qualified_name for d in known if d.kind == "function"}
    return [
        d
        for d in known
        if d.kind == "class"
        and f"{d.qualified_name}.forward" in defined
        and "." not in d.qualified_name
        and any(base.rpartition(".")[2] == "Function" for base in bases.get(d.name, ()))
    ]


@kept_with_tree
def bases_of(tree: SourceTree) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in _CLASSES.everywhere(tree).get("class", []):
        name, bases = node.child_by_field_name("name"), node.child_by_field_name("superclasses")
        if name is not None:
            children = bases.named_children if bases is not None else []
            found[tree.node_text(name)] = [
                tree.node_text(c).partition("[")[0] for c in children if c.type != "keyword_argument"
            ]
    return found


_FUNCTIONS = Query("(function_definition) @function")
_NOTHING = frozenset({"pass_statement", "comment"})


@kept_with_tree
def unimplemented(tree: SourceTree) -> frozenset[str]:
    """The qualified names of functions that a class leaves to its subclasses: abstract, or with no body but `raise NotImplementedError`."""
    nodes = _FUNCTIONS.everywhere(tree).get("function", [])
    return frozenset(qualified_name(tree, node) for node in nodes if _is_left_open(tree, node))


def _is_left_open(tree: SourceTree, node: tree_sitter.Node) -> bool:
    outer = node.parent
    if outer is not None and outer.type == "decorated_definition":
        decorators = [tree.node_text(child) for child in outer.children if child.type == "decorator"]
        if any("abstractmethod" in decorator for decorator in decorators):
            return True
    body = node.child_by_field_name("body")
    statements = [child for child in body.named_children if not _does_nothing(child)] if body is not None else []
    if not statements:
        return True
    text = tree.node_text(statements[0])
    return statements[0].type == "raise_statement" and "NotImplemented" in text.partition("(")[0]


def _does_nothing(node: tree_sitter.Node) -> bool:
    """Whether a statement is a docstring, `...` or `pass`."""
    if node.type == "expression_statement":
        return all(child.type in ("string", "ellipsis") for child in node.named_children)
    return node.type in _NOTHING
