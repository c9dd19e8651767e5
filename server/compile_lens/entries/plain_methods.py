"""Finds methods of classes that are no modules and work with tensors: `train_step`, `energy(x)`, `predict` of a wrapper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compile_lens.entries.module_classes import (
    ancestry,
    autograd_functions,
    bases_of,
    heirs,
    module_classes,
    open_bases,
    unimplemented,
    with_other_methods,
    without_usual_call,
)
from compile_lens.entries.tensor_code import TENSOR_WORDS, has_effects, names_in, takes_tensors, text_of
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import Definition, definitions
from compile_lens.syntax.tree import SourceTree, kept_with_tree

CONSTRUCTOR, CALL = "__init__", "__call__"
MOST_METHODS = 40
# methods of a class that are looked at, its own first
_MOST_MEMBERS = 400
# of such classes, methods are there for who calls them back, or take no tensors of the user's
_FRAMEWORK = pattern(
    r"Module|Sequential|ModuleList|ModuleDict|LightningModule|Function|\w*Dataset|\w*DataModule|\w*Sampler|\w*Callback|\w*Optimizer"
    r"|\w*LRScheduler|\w*Enum|\w*Error|\w*Exception|TestCase|NamedTuple|TypedDict|Protocol|BaseModel|Thread|Process"
)
# what is told by its name to read, write or show; the logarithm of something is a result (`log_prob`)
_ASIDE = pattern(
    r"_|test|load|save|parse|plot|print|log_(?!(?:prob|p_|p$|pdf|pmf|lik|density|joint|marginal|evidence|posterior|prior|sum|det|abs|softmax"
    r"|normaliz|partition|weight))|show|visuali[sz]e|download|from_pretrained|set_"
)
# `self.model(`, `self.model =`, `self.name`
_CALLED, _ASSIGNED = pattern(r"\bself\.(\w+)\("), pattern(r"\bself\.(\w+)\s*(?::[^=\n]{0,200})?=(?!=)")
_OF_OBJECT = pattern(r"\b(?:self|cls)\.(\w+)")
# `self.optimizer.step()` changes nothing but the object
OF_TRAINING = frozenset({"optimizer"})
_MORE_THAN_A_CALL = ("property", "setter", "overload", "fixture", "contextmanager", "abstractmethod", "validator")


def owner_of(definition: Definition) -> str:
    """The class of a method; the name of a class or function itself."""
    return definition.qualified_name.partition(".")[0]


def plain_methods(tree: SourceTree) -> list[Definition]:
    """Those without effects that work with tensors, those first that no other method of their class uses."""
    return [method for method, reaches_out in _methods(tree) if not reaches_out]


def with_effects(tree: SourceTree) -> list[Definition]:
    """Those that work with tensors and reach what is outside of the program: they are not called."""
    return [method for method, reaches_out in _methods(tree) if reaches_out]


def other_ways_in(tree: SourceTree) -> list[Definition]:
    """The methods of modules without ``forward``, or with one that only raises, that work with tensors, where no other method of the
    class uses them and there are several: `encode` and `decode`. Not those with effects."""
    if "torch" not in tree.text:
        return []
    known = definitions(tree)
    found: list[Definition] = []
    for cls in (*with_other_methods(tree, known), *without_usual_call(tree, known)):
        ways = [
            method for is_used, method, reaches_out in _methods_of(tree, cls, known) if not (is_used or reaches_out)
        ]
        found += ways if len(ways) > 1 else []
    return found[:MOST_METHODS]


def methods_of_heirs(tree: SourceTree) -> list[Definition]:
    """Those of classes that may be modules, for the name of a base in another file (`BasePredictor`), if they turn out to be none. Not
    those with effects."""
    if "torch" not in tree.text:
        return []
    known = definitions(tree)
    classes = [cls for cls in heirs(tree, known) if not _is_called_back(cls, bases_of(tree))]
    found = [each for cls in classes for each in _methods_of(tree, cls, known)]
    found.sort(key=lambda each: each[0])
    return [method for _, method, reaches_out in found if not reaches_out][:MOST_METHODS]


@kept_with_tree
def _methods(tree: SourceTree) -> tuple[tuple[Definition, bool], ...]:
    """The methods that work with tensors, and whether they, what they use of their class, or its constructor have effects."""
    if "torch" not in tree.text:
        return ()
    known = definitions(tree)
    found = [each for cls in _plain_classes(tree, known) for each in _methods_of(tree, cls, known)]
    found.sort(key=lambda each: each[0])
    return tuple((method, reaches_out) for _, method, reaches_out in found[:MOST_METHODS])


def _methods_of(
    tree: SourceTree, cls: Definition, known: tuple[Definition, ...]
) -> Iterator[tuple[bool, Definition, bool]]:
    """The methods of ``cls`` that work with tensors: whether another one uses it, the method, and whether it has effects."""
    members = _members(tree, cls)
    made = _attributes_made(tree, members.get(CONSTRUCTOR))
    uses = {name: _members_used(tree, each, members) for name, each in members.items()}
    used = {name for names in uses.values() for name in names}
    effects = {name for name, each in members.items() if has_effects(tree, each, OF_TRAINING)}
    for method in members.values():
        if owner_of(method) == cls.name and _is_to_call(tree, method) and _is_about_tensors(tree, method, made):
            reaches_out = not effects.isdisjoint(_reached([method.name, CONSTRUCTOR], uses))
            yield method.name in used, method, reaches_out


def _plain_classes(tree: SourceTree, known: tuple[Definition, ...]) -> Iterator[Definition]:
    bases = bases_of(tree)
    modules = {
        d.name
        for found in (
            module_classes(tree),
            *(find(tree, known) for find in (with_other_methods, heirs, open_bases, autograd_functions)),
        )
        for d in found
    }
    for cls in known:
        if cls.kind == "class" and "." not in cls.qualified_name and cls.name not in modules:
            above = [base for name in ancestry(cls.name, bases) for base in bases.get(name, ())]
            if not (_is_called_back(cls, bases) or any(base in modules for base in above)):
                yield cls


def _is_called_back(cls: Definition, bases: dict[str, list[str]]) -> bool:
    """Whether it inherits from a class of a framework that calls what it defines."""
    above = [base for name in ancestry(cls.name, bases) for base in bases.get(name, ())]
    return any(_FRAMEWORK.fullmatch(base.rpartition(".")[2]) for base in above)


def _members(tree: SourceTree, cls: Definition) -> dict[str, Definition]:
    """The methods of a class by name, with those that it inherits in the file."""
    found: dict[str, Definition] = {}
    for name in ancestry(cls.name, bases_of(tree)):
        for each in _functions_of(tree).get(name, ()):
            if len(found) < _MOST_MEMBERS:
                found.setdefault(each.name, each)
    return found


@kept_with_tree
def _functions_of(tree: SourceTree) -> dict[str, list[Definition]]:
    """The functions in each class of the file, by its name."""
    found: dict[str, list[Definition]] = {}
    for each in definitions(tree):
        owner, _, name = each.qualified_name.rpartition(".")
        if each.kind == "function" and owner and name == each.name:
            found.setdefault(owner, []).append(each)
    return found


def _is_to_call(tree: SourceTree, method: Definition) -> bool:
    """Whether it is a method for users that takes something."""
    is_static = "staticmethod" in method.decorators
    parameters = [p for p in method.parameters[0 if is_static else 1 :] if not p.default and not p.name.startswith("*")]
    return (
        bool(parameters)
        and (method.name == CALL or not _ASIDE.match(method.name))
        and not any(word in decorator for decorator in method.decorators for word in _MORE_THAN_A_CALL)
        and method.qualified_name not in unimplemented(tree)
    )


def _is_about_tensors(tree: SourceTree, method: Definition, made: frozenset[str]) -> bool:
    """Whether a parameter is annotated as a tensor, or the body uses torch, or calls what the constructor has made: `self.model(x)`."""
    if takes_tensors(method):
        return True
    if all(parameter.annotation for parameter in method.parameters[1:]):
        return False
    called = {name for name in _CALLED.findall(text_of(tree, method)) if name in made}
    return bool(called) or not TENSOR_WORDS.isdisjoint(names_in(tree, method))


def _attributes_made(tree: SourceTree, constructor: Definition | None) -> frozenset[str]:
    return frozenset(_ASSIGNED.findall(text_of(tree, constructor))) if constructor is not None else frozenset()


def _reached(names: list[str], uses: Mapping[str, list[str]]) -> Iterable[str]:
    """The methods of these names, and those that they use of their class, and so on."""
    found = dict.fromkeys(name for name in names if name in uses)
    for each in (waiting := list(found)):
        more = [name for name in uses[each] if name not in found]
        found |= dict.fromkeys(more)
        waiting += more
    return found


def _members_used(tree: SourceTree, method: Definition, members: dict[str, Definition]) -> list[str]:
    used = dict.fromkeys(_OF_OBJECT.findall(text_of(tree, method)))
    return [name for name in used if name in members and name != method.name]
