"""Makes descriptions of values anew of what a run says, kind by kind: a script is written of the parts that are named here alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from compile_lens.late_pattern import pattern
from compile_lens.repro.known_names import PLAIN_CLASSES, KnownNames, is_dotted
from compile_lens.repro.plain_text import NUMPY_DTYPES, NoPlainText, device, dtype, number, numbers, plain

_SAVED = pattern(r"\w[\w.-]*")
_FRACTIONS = ("mean", "std", "chance")
_MOST_DEPTH = 60
PARTIAL = "functools.partial"
Described = Any
Plain = TypeVar("Plain", str, int, bool)


class Refused(Exception):
    """Something that a script may not have; the text says what."""


class RebuiltValues:
    """``may_construct`` tells for a class, its module, and the texts among its arguments whether it may be called with them."""

    def __init__(self, names: KnownNames, may_construct: Callable[[str, str, Iterable[str]], bool]) -> None:
        self._names = names
        self._may_construct = may_construct
        self._depth = 0

    def value(self, said: Any) -> Described:
        """The description of one value. Raises Refused."""
        if said is None or type(said) in (bool, int, str):
            return said
        if not isinstance(said, dict) or not isinstance(said.get("is"), str):
            raise Refused(said)
        made = getattr(self, f"_{said['is'].replace('-', '_')}", None)
        if made is None or said["is"] not in _KINDS:
            raise Refused(said["is"])
        self._depth += 1
        try:
            if self._depth > _MOST_DEPTH:
                raise Refused(said["is"])
            return {"is": said["is"], **_identity(said), **made(said)}
        except NoPlainText as text:
            raise Refused(str(text)) from None
        finally:
            self._depth -= 1

    def values(self, said: Any) -> list[Described]:
        """Those of a list."""
        return [self.value(each) for each in _list(said)]

    def by_name(self, said: Any) -> dict[str, Described]:
        """Those of a dictionary with names."""
        if not isinstance(said, Mapping):
            raise Refused(said)
        return {_exactly(str, name): self.value(each) for name, each in said.items()}

    def _unsupported(self, said: Any) -> Described:
        return {"why": _exactly(str, said["why"])}

    def _code(self, said: Any) -> Described:
        return {"code": plain(said["code"])}

    def _ellipsis(self, _: Any) -> Described:
        return {}

    def _device(self, said: Any) -> Described:
        return {"device": device(said["device"])}

    def _name(self, said: Any) -> Described:
        name, module = said["name"], said.get("import") or ""
        if not self._names.is_value(name, module):
            raise Refused(name)
        return {"name": name, **({"import": module} if module else {})}

    def module_of_name(self, said: Any) -> Described:
        """The description of a module, which no value is: what gets one can call all that it has. Raises Refused."""
        if not self._names.is_module(said["name"]):
            raise Refused(said["name"])
        return {"is": "python-module", **_identity(said), "name": said["name"]}

    def _attribute(self, said: Any) -> Described:
        """A method of an object, or a member of a class: not what a module has."""
        of, name = self.value(said["of"]), said["name"]
        kind = of["is"] if isinstance(of, dict) else ""
        if not is_dotted(name) or "." in name or kind not in _OWNERS or (kind == "name" and not self._is_class(of)):
            raise Refused(name)
        if kind != "name" and not self._has_harmless(name, _class_of(of)):
            raise Refused(name)
        if kind == "name" and of.get("import") and not self._names.is_value(f"{of['name']}.{name}", of["import"]):
            raise Refused(name)
        return {"of": of, "name": name}

    def _has_harmless(self, method: str, cls: Mapping[str, str]) -> bool:
        """Whether the method of an object may be bound: a path of Python's has some that delete it, and what a library's does is in its
        name at best."""
        top = cls.get("import", "").partition(".")[0]
        is_of_library = top not in sys.stdlib_module_names and not self._names.reaches_out(method)
        return self._names.is_defined(cls.get("name", "")) or is_of_library

    def _list(self, said: Any) -> Described:
        return {"items": self.values(said["items"])}

    _tuple = _set = _frozenset = _list

    def _dict(self, said: Any) -> Described:
        return {"items": [[self.value(key), self.value(item)] for key, item in _list(said["items"])]}

    def _call(self, said: Any) -> Described:
        made = {
            "of": self._callee(said["of"]),
            "args": self.values(said["args"]),
            "kwargs": self.by_name(said["kwargs"]),
        }
        self._check_arguments(made)
        if made["of"]["name"] == PARTIAL and not self._may_be_prepared(made["args"]):
            raise Refused(PARTIAL)
        return made

    def _may_be_prepared(self, given: list[Described]) -> bool:
        """Whether `functools.partial` gets a function or a class of the user's, of torch or of operators, or a class of a package."""
        first = given[0] if given and isinstance(given[0], dict) else {}
        if first.get("is") in ("attribute", "call", "module", "object"):
            first = _class_of(first)
        module = first.get("import", "")
        is_known = not module or module.partition(".")[0] in ("torch", "operator", "math")
        return first.get("is") == "name" and (is_known or self._is_class(first)) and first["name"] not in PLAIN_CLASSES

    def _object(self, said: Any) -> Described:
        made = {"of": self._callee(said["of"]), "attributes": self.by_name(said["attributes"])}
        if made["of"].get("name") == PARTIAL:
            raise Refused(PARTIAL)
        texts = [each for each in made["attributes"].values() if isinstance(each, str)]
        self._check_arguments({"of": made["of"], "args": [], "kwargs": made["attributes"]})
        # what ends with an object may delete what an attribute names (`numpy.DataSource`)
        if made["of"].get("import") and not self._names.may_hold(made["of"]["name"], texts):
            raise Refused(made["of"]["name"])
        return made

    def _module(self, said: Any) -> Described:
        made = {
            "of": self._callee(said["of"]),
            "args": self.values(said["args"]),
            "kwargs": self.by_name(said["kwargs"]),
        }
        self._check_arguments(made)
        state = said.get("state") or ""
        if state and not _is_saved(state):
            raise Refused(state)
        return {
            **made,
            "training": _exactly(bool, said["training"]),
            "modes": {_exactly(str, path): _exactly(bool, mode) for path, mode in said["modes"].items()},
            "frozen": [_exactly(str, each) for each in _list(said["frozen"])],
            "parameters": _exactly(int, said["parameters"]),
            "dtypes": [dtype(each) for each in _list(said["dtypes"])],
            "devices": [device(each) for each in _list(said["devices"])],
            "replaced": self.by_name(said["replaced"]),
            "state": state,
        }

    def _numpy(self, said: Any) -> Described:
        name, shape, value = said["dtype"], said.get("shape"), said.get("value")
        if name not in NUMPY_DTYPES:
            raise Refused(name)
        return {
            "scalar": _exactly(bool, said["scalar"]),
            "dtype": name,
            "value": None if value is None else number(value) if said["scalar"] else numbers(value),
            "shape": None if shape is None else numbers(shape),
        }

    def _tensor(self, said: Any) -> Described:
        return {
            "shape": [_exactly(int, size) for size in _list(said["shape"])],
            "stride": [_exactly(int, size) for size in _list(said["stride"])],
            "offset": _exactly(int, said.get("offset", 0)),
            "dtype": dtype(said["dtype"]),
            "device": device(said["device"]),
            "requires_grad": _exactly(bool, said["requires_grad"]),
            "parameter": _exactly(bool, said["parameter"]),
            "values": {name: _of_tensor(name, each) for name, each in said["values"].items()},
        }

    def _callee(self, said: Any) -> Described:
        """A class that is called, or whose object is rebuilt."""
        if isinstance(said, dict) and said.get("is") == "code" and said.get("code") == "torch.Size":
            return {"is": "code", "code": "torch.Size"}
        if not isinstance(said, dict) or said.get("is") != "name":
            raise Refused(said.get("is") if isinstance(said, dict) else said)
        made = {"is": "name", "name": said["name"], **({"import": said["import"]} if said.get("import") else {})}
        if not self._is_class(made):
            raise Refused(said["name"])
        return made

    def _is_class(self, made: Any) -> bool:
        return self._names.is_class(made["name"], made.get("import") or "")

    def _check_arguments(self, made: Any) -> None:
        of = made["of"]
        # torch's own code would call it with what the run says
        if of.get("import", "").partition(".")[0] == "torch" and has_prepared([made["args"], made["kwargs"]]):
            raise Refused(PARTIAL)
        if of["is"] == "name" and not self._may_construct(
            of["name"], of.get("import") or "", _texts([made["args"], made["kwargs"]])
        ):
            raise Refused(of["name"])


_KINDS = frozenset(
    ["unsupported", "code", "ellipsis", "device", "name", "attribute", "list", "tuple", "set", "frozenset", "dict", "call",
     "object", "module", "numpy", "tensor"]
)  # fmt: skip
# what has methods that may be bound
_OWNERS = ("name", "attribute", "call", "object", "module", "tensor")


def has_prepared(made: Described) -> bool:
    """Whether a function of the user's is described with arguments that the run says, other than for code of the user's."""
    if isinstance(made, list):
        return any(map(has_prepared, made))
    if not isinstance(made, dict):
        return False
    of = made.get("of")
    if isinstance(of, dict) and of.get("name") == PARTIAL:
        first = made["args"][0]
        return not (first.get("is") == "name" and "import" in first) or has_prepared([made["args"], made["kwargs"]])
    if isinstance(of, dict) and of.get("is") == "name" and not of.get("import"):
        return False
    return any(map(has_prepared, made.values()))


def is_data(made: Described) -> bool:
    """Whether a rebuilt description names nothing, and calls nothing of the user's."""
    if isinstance(made, dict):
        return made.get("is") not in ("name", "python-module", "attribute", "call", "object", "module") and all(
            map(is_data, made.values())
        )
    return all(map(is_data, made)) if isinstance(made, list) else True


def _class_of(made: Described) -> dict[str, str]:
    """The name of the class whose object ``made`` is, or an attribute of; without one for a tensor."""
    while isinstance(made, dict) and made.get("is") != "name":
        made = made.get("of")
    return made if isinstance(made, dict) else {}


def _identity(said: Any) -> dict[str, int]:
    return {"id": _exactly(int, said["id"])} if "id" in said else {}


def _of_tensor(name: str, said: Any) -> Any:
    match name:
        case "file":
            if not _is_saved(said):
                raise Refused(said)
            return said
        case "list":
            return numbers(said)
        case "fill":
            return number(said)
        case "arange":
            start, step = said
            return [_exactly(int, start), _exactly(int, step)]
        case "tril":
            diagonal, below, above = said
            return [_exactly(int, diagonal), number(below), number(above)]
        case "low" | "high" | "mean" | "std" | "chance":
            if type(said) not in (int, float):
                raise Refused(said)
            return said
        case "uniform":
            return _exactly(bool, said)
    raise Refused(name)


def _is_saved(name: Any) -> bool:
    return isinstance(name, str) and _SAVED.fullmatch(name) is not None


def _texts(made: Any) -> list[str]:
    """The texts among the arguments of a call, but for names."""
    if isinstance(made, str):
        return [made]
    if isinstance(made, list):
        return [text for each in made for text in _texts(each)]
    if not isinstance(made, dict):
        return []
    if made.get("is") == "code":
        constants = (node.value for node in ast.walk(ast.parse(made["code"])) if isinstance(node, ast.Constant))
        return [str(value) for value in constants if isinstance(value, str | bytes)]
    inside = [made[name] for name in ("args", "kwargs", "items", "attributes", "replaced", "of") if name in made]
    return [text for each in (inside if "is" in made else made.values()) for text in _texts(each)]


def _list(said: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(said, list | tuple):
        raise Refused(said)
    return said


def _exactly(kind: type[Plain], said: Any) -> Plain:
    """``said`` if it is of this very type: a boolean is no number here."""
    if type(said) is not kind:
        raise Refused(said)
    return said
