"""Guesses a first argument for each parameter from its annotation, default, name, and what the source says about it."""

from __future__ import annotations

import collections.abc
import enum
import inspect
import re
import traceback
import typing
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...calling.time_limit import TrialTooLong
from ..changes.implementations import implementation, made_up
from ..changes.lazily_built import lazily_built
from ..changes.other_values import ANY_MODULE
from ..changes.structures import ANY_KEYS
from ..project.concrete_classes import class_in, concrete_classes
from ..project.configurations import NAMES, class_for, lacking, needed_by, variants
from ..project.heirs import concrete_or_imported
from ..project.ready_configurations import configurations_of, configurations_with
from ..source.accepted_values import accepted_texts, literal_of, texts_of_attributes
from ..source.block_classes import class_to_construct, layer_to_construct
from ..source.constructor_parameters import constructor_parameters
from ..source.defaults_elsewhere import default_elsewhere
from ..source.guesses import (
    ASCENDING,
    ASCENDING_VALUES,
    DATA_NAMED_AS_LABELS,
    FLOATS,
    GRAPH_INPUTS,
    INPUTS,
    LABELS_BELOW,
    MAKERS,
    OF_LIBRARIES,
    OTHER_SIZE,
    PLAIN_INPUTS,
    SHAPES,
    SIZES,
    UNKNOWN_INPUT,
    WORDS,
    InputGuess,
    by_name,
    dimension_size,
)
from ..source.hint_kinds import classes_in, count_of_items, first_class, is_dict_of_tensors, kinds_of, plain_items
from ..source.listed_values import listed_texts
from ..source.named_sizes import size_of
from ..source.needed_parameters import is_needed, is_vocabulary
from ..terms.arguments import Argument, Constructed, Expression, Fields, Group, Tensor, UnknownInteger
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo, positional_names
from .any_number import any_number_of, item_of
from .namesakes import is_of_package, model_called
from .nested_inputs import nested_input

_SCALAR = re.compile(
    r"(?:n|k|dim|axis|num_\w+|n_\w+|\w+_size|steps?|scale|alpha|beta|eps|lr|\w+_(?:dim|idx|index)|i|step_?num|degree|order)"
)
_FLAG = re.compile(r"(?:use|is|has|with|return|output|num|n)_")
_IDS = r"(?:.*_)?ids"
_MAX_DEPTH = 3
# classes and parameters of which a guess has raised
_printed: set[tuple[str, str]] = set()
_PLAIN_TYPES = (int, float, bool, str, "int", "float", "bool", "str")
# what a function counts with
FEW = 2
# of a constructor: numbers that may be sizes, and ascend
ARRAY = "numpy.arange(2, 10)"


class ArgumentGuesser:
    """Guesses arguments for one target in ``module``; sizes that are not known become unknowns.

    ``sizes`` are known ones by plain name: those of the object that is called.
    """

    def __init__(self, module: ModuleType, unknowns: Unknowns, sizes: Mapping[str, int] | None = None) -> None:
        self.module = module
        self.unknowns = unknowns
        self.sizes = sizes or {}

    def for_constructor(self, owner: Any, info: ParameterInfo, depth: int = 0) -> list[Argument]:
        """Arguments for a parameter of a constructor, the likeliest first; never empty, whatever its annotation is."""
        try:
            return self._for_constructor(owner, info, depth)
        except TrialTooLong:
            raise
        except Exception:  # annotations and defaults are objects of the program's, which may be and raise anything
            _print_once(owner, info.name)
            return [self._width(info.name, OTHER_SIZE)]

    def _for_constructor(self, owner: Any, info: ParameterInfo, depth: int) -> list[Argument]:
        kinds = kinds_of(info.hint, info.annotation)
        if info.item_fields and depth < _MAX_DEPTH:
            item = tuple((key, self._field(owner, key, None, depth)) for key in info.item_fields)
            return [Group((Fields(item, is_dict=True),), is_list=True)]
        wanted = first_class(info.hint)
        lazy = lazily_built(wanted, self.path_of(wanted)) if wanted is not None else None
        if lazy is not None:
            return [lazy]
        config = class_for(owner, info.name, wanted, self.module, bool(info.annotation))
        missing = lacking(config, info.fields) if config is not None and info.hint is None else set()
        is_guessed = config is None or bool(missing)
        if config is not None and not is_guessed and depth < _MAX_DEPTH:
            return self._configurations(config, depth)
        if not kinds and is_guessed and NAMES.fullmatch(info.name) is not None:
            ready = [Expression(text) for text in configurations_with(info.fields, self.module)]
            if ready:
                return [*ready, self._constructor_value(owner, info, kinds, depth)]
        if config is not None and depth < _MAX_DEPTH and missing != set(info.fields):
            return self._configurations(config, depth)
        if "tensor" in kinds:
            return [self._constructor_tensor(info)]
        if "tensors" in kinds and not kinds & {"int", "module", "callable"}:
            items = (self._constructor_tensor(info),) * count_of_items(info.hint)
            return [Group(items, is_list="tuple" not in kinds)]
        first = self._constructor_value(owner, info, kinds, depth)
        is_any = first == Expression(ANY_MODULE) and depth < _MAX_DEPTH
        namesake = model_called(self.module, owner, info.name) if is_any else None
        if namesake is not None:
            return [self._constructed(namesake, depth), first]
        if isinstance(first, Constructed) and wanted is not None:
            others = concrete_classes(wanted, self.module)[1:]
            return [first, *(self._constructed(each, depth) for each in others)]
        return [first]

    def _configurations(self, config: type, depth: int) -> list[Argument]:
        """Those of the class ``config``: what the package has ready comes first where others of its objects are parts of it."""
        made = list(variants(config, self.path_of(config), lambda name, hint: self._field(config, name, hint, depth)))
        needed = [hint for name, hint in needed_by(config)]
        if not needed:
            return made
        ready: list[Argument] = [Expression(text) for text in configurations_of(config, self.module)]
        return [*made, *ready] if all(hint in _PLAIN_TYPES for hint in needed) else [*ready, *made]

    def _constructor_tensor(self, info: ParameterInfo) -> Argument:
        """What a constructor keeps is most often a vector: weights of classes, means, the limits of bins, which ascend."""
        if re.fullmatch(ASCENDING, info.name.strip("_").lower()) and info.dims is None:
            return Expression(ASCENDING_VALUES)
        if info.dims is None and info.least_rank == 0 and by_name(INPUTS, info.name) is None:
            size = self.unknowns.get(f"{info.name}_0", OTHER_SIZE).name
            return Tensor(info.dtype or "float32", (size,))
        return self.tensor(info, None)

    def _field(self, owner: Any, name: str, hint: Any, depth: int) -> Argument:
        info = ParameterInfo(name, True, None, str(hint), hint=None if hint is inspect.Parameter.empty else hint)
        return self.for_constructor(owner, info, depth + 1)[0]

    def _constructor_value(self, owner: Any, info: ParameterInfo, kinds: set[str], depth: int) -> Argument:
        name = info.name
        if not (kinds - {"sequence", "tuple"} or typing.get_args(info.hint) or info.fields) and by_name(SHAPES, name):
            return Expression(by_name(SHAPES, name))
        written = literal_of(info.hint)
        if written is not None:
            return Expression(repr(written))
        found = self._object(owner, info, depth)
        if found is not None:
            return found
        built = class_to_construct(owner, name, self.module) if kinds <= {"callable", "module"} else None
        if built is not None:
            return Expression(self.path_of(built))
        layer = layer_to_construct(owner, name) if kinds <= {"callable", "module"} else None
        if layer is not None:
            return Expression(layer)
        parts = classes_in(info.hint)
        if parts and depth < _MAX_DEPTH:
            items = tuple(self._field(owner, name, each, depth) for each in parts)
            return Group(items, is_list=typing.get_origin(info.hint) is not tuple)
        own = self._own_items(info.hint, depth + 1) if depth < _MAX_DEPTH else None
        if own is not None:
            return Group((own,), is_list=typing.get_origin(info.hint) is not tuple)
        if getattr(first_class(info.hint), "__name__", "") == "ndarray":
            return Expression(ARRAY)
        if typing.get_origin(info.hint) in (dict, collections.abc.Mapping) and depth < _MAX_DEPTH:
            key, value = (*typing.get_args(info.hint), str, int)[:2] if typing.get_args(info.hint) else (str, int)
            hint = value if isinstance(value, type) else None
            texts = plain_items(list[value], OTHER_SIZE) if key is int else ()  # type: ignore[valid-type]
            if texts:
                return Expression("{" + ", ".join(f"{number}: {text}" for number, text in enumerate(texts)) + "}")
            if info.fields:
                return Fields(tuple((key, self._field(owner, key, hint, depth)) for key in info.fields), True)
            inside = ParameterInfo(name, True, None, "", hint=hint)
            return Fields((("first", self._constructor_value(owner, inside, kinds_of(value, ""), depth + 1)),), True)
        accepted = accepted_texts(owner).get(name, ()) if isinstance(owner, type) else ()
        if not accepted and isinstance(owner, type) and kinds <= {"str"} and class_for(None, "", owner, self.module):
            accepted = texts_of_attributes(self.module).get(name, ())
        if not accepted and kinds <= {"str"} and isinstance(owner, type) and by_name(SIZES, name) is None:
            accepted = listed_texts(owner).get(name, ())
        if accepted and kinds <= {"str"}:
            return Expression(repr(accepted[0]))
        usual = default_elsewhere(owner, name, kinds)
        if usual is not None:
            return Expression(repr(usual))
        is_flag = info.is_flag and by_name(SIZES, name) is None and by_name(MAKERS, name) is None
        is_named_so = re.match(r"(?:use|is|has|with|enable|add)_|bias$|causal$", name) is not None
        if "bool" in kinds or (not kinds and (is_flag or is_named_so)):
            return Expression("True" if re.search("bias|affine", name) else "False")
        if "str" in kinds and not kinds & {"int"}:
            return Expression(repr(by_name(WORDS, name) or "mean"))
        size, number = by_name(SIZES, name), by_name(FLOATS, name)
        if "float" in kinds and "int" not in kinds:
            return Expression(repr(1.0 if number is None else number))
        if "sequence" in kinds and "int" not in kinds:
            base = OTHER_SIZE if size is None else size
            texts = plain_items(info.hint, base)
            if texts:
                return Group(tuple(Expression(text) for text in texts), is_list="tuple" not in kinds)
            return Group((Expression(str(base)), Expression(str(base))), is_list="tuple" not in kinds)
        if "int" not in kinds:
            maker = by_name(MAKERS, name)
            if "callable" in kinds or "module" in kinds or (maker is not None and size is None):
                return Expression(maker or "torch.nn.Identity()")
            if number is not None and size is None:
                return Expression(repr(number))
            word = by_name(WORDS, name)
            if word is not None and size is None:
                return Expression(repr(word))
        return self._width(name, OTHER_SIZE if size is None else int(size))

    def _width(self, name: str, value: int) -> Argument:
        if value < 1:
            return Expression(str(value))
        return UnknownInteger(self.unknowns.get(f"{name}=", value).name)

    def _object(self, owner: Any, info: ParameterInfo, depth: int) -> Argument | None:
        """An object of the class that the annotation names: an enum member, a dtype, a module of the file."""
        wanted = class_in(info.hint)
        if wanted is not None and self.is_own(wanted):
            return Expression(self.path_of(concrete_classes(wanted, self.module)[0]))
        cls = first_class(info.hint)
        if cls is None or depth >= _MAX_DEPTH:
            return None
        if issubclass(cls, enum.Enum):
            return Expression(f"{self.path_of(cls)}.{next(iter(cls)).name}") if len(cls) else None
        path = f"{cls.__module__}.{cls.__qualname__}"
        if path in OF_LIBRARIES:
            return Expression(OF_LIBRARIES[path])
        if cls.__module__ in ("builtins", "typing", "collections.abc") or path.startswith("torch."):
            return None
        if not any(base.__name__ == "Module" for base in cls.__mro__) and not self.is_own(cls):
            return None
        return self.constructed(cls, depth, owner if isinstance(owner, type) else None, info.name)

    def constructed(self, cls: type, depth: int = 0, without: type | None = None, name: str = "") -> Argument:
        """A call that constructs ``cls``, but ``without``; where it is abstract, a subclass of it, or else another class that has what it
        describes. Where there is none, an object that has it, for the parameter ``name``."""
        found = concrete_or_imported(cls, self.module, without)
        if (getattr(found, "_is_protocol", False) or inspect.isabstract(found)) and self.is_own(found):
            other = implementation(found, self.module, without)
            if other is None:
                made, attributes = made_up(found, name)
                for attribute, hint in attributes:
                    made = made.with_field(attribute, self._field(found, attribute, hint, depth))
                return made
            found = other
        return self._constructed(found, depth)

    def _constructed(self, cls: type, depth: int) -> Constructed:
        known = constructor_parameters(cls)
        # a part of a model of tokens gets tokens
        infos = [r for r in known if r.required or is_needed(r) or (depth == 0 and is_vocabulary(r))]
        named = tuple((r.name, self.for_constructor(cls, r, depth + 1)[0]) for r in infos)
        many = any_number_of(cls)
        if many and depth < _MAX_DEPTH:
            named = (*named, (many, item_of(cls, many, self, depth + 1)))
            return Constructed(self.path_of(cls), named, tuple(name for name, _ in named))
        return Constructed(self.path_of(cls), named, positional_names(known))

    def is_own(self, cls: type) -> bool:
        """Whether ``cls`` is one of the package that the file is a part of."""
        return is_of_package(self.module, cls)

    def for_input(
        self,
        info: ParameterInfo,
        expected: InputGuess | None,
        expected_of: Callable[[ParameterInfo], InputGuess | None] = lambda _: None,
    ) -> Argument:
        """An argument for a parameter of ``forward`` or of a function. ``expected``: the input of the first layer; ``expected_of`` has
        it for what is unpacked of the argument."""
        kinds = kinds_of(info.hint, info.annotation)
        is_tensor = info.dims is not None or expected is not None or info.least_rank > 0
        # an object of a class may be read by keys, too
        is_object = bool({*info.fields} - {*info.inside}) or first_class(info.hint) is not None or info.of_graph
        if info.inside and not is_object and "tensor" not in kinds:
            return nested_input(info, info.inside, self.unknowns, self.read_by_key)
        own = self._own_items(info.hint)
        if len(info.unpacked) > 1 and not info.of_graph and own is None and info.dims is None and expected is None:
            return Group(tuple(self.for_input(part, expected_of(part)) for part in info.unpacked))
        if own is not None:
            return Group((own, own), is_list=typing.get_origin(info.hint) is not tuple)
        if is_dict_of_tensors(info.hint) and info.dims is None and expected is None:
            kinds_read = info.field_kinds
            items = (ParameterInfo(k, True, None, "", dtype=kinds_read.get(k, "")) for k in info.fields or ANY_KEYS)
            return Fields(tuple((each.name, self.tensor(each, None)) for each in items), is_dict=True)
        if "tensors" in kinds:
            item = self.tensor(info, expected)
            return Group((item,) * count_of_items(info.hint), is_list="tuple" not in kinds)
        plain = kinds & {"int", "float", "bool", "str"}
        if "tensor" not in kinds and not is_tensor:
            if info.is_count and not kinds:
                return Expression(str(by_name(SIZES, info.name) or FEW))
            if info.is_flag and not kinds and by_name(INPUTS, info.name) is None:
                return Expression("False")
            if by_name(PLAIN_INPUTS, info.name) is not None and not info.dtype:
                return Expression(by_name(PLAIN_INPUTS, info.name))
            if "int" in kinds and by_name(SIZES, info.name) is None:
                return Expression("2")
            if plain or "callable" in kinds or "module" in kinds or "sequence" in kinds:
                return self.for_constructor(None, info)[0]
            made = self._object(None, info, 0)
            if made is not None:
                return made
            if _SCALAR.fullmatch(info.name) and by_name(INPUTS, info.name) is None:
                return Expression("2")
            if by_name(INPUTS, info.name) is None and by_name(MAKERS, info.name) is not None:
                return Expression(by_name(MAKERS, info.name))
        return self.tensor(info, expected)

    def _own_items(self, hint: Any, depth: int = 0) -> Argument | None:
        """An item of a list or another sequence of objects of the user's package."""
        if typing.get_origin(hint) not in (list, tuple, collections.abc.Sequence, collections.abc.Iterable):
            return None
        cls = first_class(next(iter(typing.get_args(hint)), None))
        return self.constructed(cls, depth) if cls is not None and self.is_own(cls) else None

    def read_by_key(self, info: ParameterInfo) -> Argument:
        """What a dictionary or an object has under the name of ``info``: data, unless it is a flag or a number."""
        return self.for_input(info, None) if _FLAG.match(info.name) else self.tensor(info, None)

    def tensor(self, info: ParameterInfo, expected: InputGuess | None) -> Tensor:
        """The tensor for a parameter: its shape from the most precise source, with sizes from any source that has them."""
        if expected is not None and expected.dtype == "float32" and re.fullmatch(_IDS, info.name) is not None:
            expected = None  # of a layer that gets what is looked up
        # the first of a call is its data: what a solver gets as `y` is no label
        is_data = info.is_first and re.fullmatch(DATA_NAMED_AS_LABELS, info.name) is not None
        of_graph = by_name(GRAPH_INPUTS, info.name) if info.of_graph else None
        if of_graph is not None and info.dims is None:
            return self._of_graph(info, of_graph, expected)
        guess = (by_name(INPUTS, info.name) if not is_data else None) or UNKNOWN_INPUT
        is_named = guess is not UNKNOWN_INPUT
        dims, has_known_rank = guess.dims, False
        dtype, below, equal = guess.dtype, guess.below, guess.equal
        if expected is not None:
            dims, has_known_rank = expected.dims, True
        if info.dims is not None:
            dims, has_known_rank = self._merged(info.dims, expected), True
        if len(dims) < info.least_rank:
            dims = (*dims, *("" for _ in range(info.least_rank - len(dims))))
        if (
            is_named
            and info.dims is None
            and expected is not None
            and expected.dtype == "int64"
            and len(guess.dims) == 1
        ):
            dims, has_known_rank = guess.dims, False  # a table takes any shape: `classes` are one for each sample
        is_of_ids = guess.dtype == "int64" and guess.dims == ("B", "T")
        if (guess.below == LABELS_BELOW or is_of_ids) and len(dims) > 2 and not info.dtype and expected is None:
            # as many dimensions as an image, which a loss compares with, or as a sequence of vectors
            dtype, below, equal = "float32", None, None
        if expected is not None and expected.dtype != guess.dtype:
            dtype, below, equal = expected.dtype, expected.below, None
        elif expected is not None and expected.below is not None:
            below = expected.below
        if info.dtype and info.dtype != dtype:
            dtype = info.dtype
            below = below if dtype.startswith("int") else None
            equal = equal if dtype.startswith("int") else None
        names = tuple(self._dimension(info.name, index, dim) for index, dim in enumerate(dims))
        return Tensor(dtype, names, below, equal, has_known_rank)

    def _of_graph(self, info: ParameterInfo, guess: InputGuess, expected: InputGuess | None) -> Tensor:
        """The tensor for what belongs to the nodes or the edges of a graph, as wide as its first layer takes it."""
        dims, dtype, below = guess.dims, guess.dtype, guess.below
        if expected is not None and expected.dtype != dtype:
            dims, dtype, below = dims[:1], expected.dtype, expected.below
        elif expected is not None and len(dims) == 2 and dims[-1] == "C":
            dims = (dims[0], expected.dims[-1])
        names = tuple(self._dimension(info.name, index, dim) for index, dim in enumerate(dims))
        return Tensor(dtype, names, below, guess.equal, True)

    def _merged(self, dims: tuple[str, ...], expected: InputGuess | None) -> tuple[str, ...]:
        if expected is None or len(expected.dims) != len(dims):
            return dims
        return tuple(e if e.isdecimal() else own for own, e in zip(dims, expected.dims, strict=True))

    def _dimension(self, parameter: str, index: int, dim: str) -> str:
        """The unknown for one dimension; dimensions of the same name share one."""
        if dim.isdecimal():
            return self.unknowns.get(dim, max(1, int(dim)), fixed=True).name
        name = dim or f"{parameter}_{index}"
        size = size_of(dim, self.sizes) or dimension_size(dim or ("B" if index == 0 else "T"))
        return self.unknowns.get(name, size).name

    def path_of(self, cls: type) -> str:
        """The name of a class in the module's own code; its full name where it has none there."""
        for name, value in vars(self.module).items():
            if value is cls:
                return name
        return f"{cls.__module__}.{cls.__qualname__}"


def _print_once(owner: Any, name: str) -> None:
    """Print the exception that a guess for the parameter ``name`` has raised: it is guessed again for each candidate."""
    key = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', '')}", name
    if key not in _printed:
        _printed.add(key)
        traceback.print_exc()
