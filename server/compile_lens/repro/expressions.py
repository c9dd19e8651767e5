"""Turns descriptions of values (``agent/capture/describe.py``) into Python expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

FLOAT32, INT64, BOOL = "torch.float32", "torch.int64", "torch.bool"


class CannotWrite(Exception):
    """Something cannot be written into a script; the text is one sentence for the user."""


class Expressions:
    """Writes expressions, and remembers what they need: imports, helpers, objects that occur more than once.

    ``replacement_device``: the device that replaces others, or '' to keep them.
    """

    def __init__(self, replacement_device: str = "") -> None:
        self.imports: set[str] = set()
        self.devices: set[str] = set()
        self.uses_rebuilt = False
        self.saved: list[str] = []
        self._replacement_device = replacement_device
        self._shared: dict[int, str] = {}
        self._repeated: set[int] = set()
        self._before: list[str] = []

    def begin(self, *descriptions: Any) -> None:
        """Begin a new scope: objects that occur in it more than once become variables."""
        counts = Counter(value["id"] for value in _walk(list(descriptions)) if "id" in value)
        self._shared, self._before = {}, []
        self._repeated = {number for number, count in counts.items() if count > 1}

    def statements(self) -> list[str]:
        """The assignments that the expressions since ``begin`` need before them."""
        return self._before

    def write(self, value: Any) -> str:
        """The expression for a description. Raises CannotWrite."""
        if not isinstance(value, dict):
            return repr(value)
        number = value.get("id", 0)
        if number in self._shared:
            return self._shared[number]
        text: str = getattr(self, f"_{value['is'].replace('-', '_')}")(value)
        if number in self._repeated or (value["is"] == "module" and "\n" in text):
            name = f"{'module' if value['is'] == 'module' else 'shared'}_{number}"
            self._shared[number] = name
            first, *more = text.splitlines()
            self._before.append(f"{name} = {first}")
            self._before += [line.replace("{it}", name) for line in more]
            return name
        return text

    def _unsupported(self, value: Any) -> str:
        raise CannotWrite(value["why"])

    def _code(self, value: Any) -> str:
        return str(value["code"])

    def _ellipsis(self, _: Any) -> str:
        return "..."

    def _device(self, value: Any) -> str:
        return f"torch.device({self.device(value['device'])!r})"

    def device(self, name: str) -> str:
        """The device to use for ``name`` in the script."""
        self.devices.add(name)
        return (
            self._replacement_device
            if self._replacement_device and name.partition(":")[0] not in ("cpu", "meta")
            else name
        )

    def _name(self, value: Any) -> str:
        if value.get("import"):
            self.imports.add(value["import"])
        return str(value["name"])

    def _python_module(self, value: Any) -> str:
        self.imports.add(value["name"])
        return str(value["name"])

    def _attribute(self, value: Any) -> str:
        return f"{self.write(value['of'])}.{value['name']}"

    def _list(self, value: Any) -> str:
        return f"[{self._joined(value)}]"

    def _tuple(self, value: Any) -> str:
        return f"({self._joined(value)}{',' if len(value['items']) == 1 else ''})"

    def _set(self, value: Any) -> str:
        return f"{{{self._joined(value)}}}" if value["items"] else "set()"

    def _frozenset(self, value: Any) -> str:
        return f"frozenset([{self._joined(value)}])"

    def _joined(self, value: Any) -> str:
        return ", ".join(self.write(item) for item in value["items"])

    def _dict(self, value: Any) -> str:
        return f"{{{', '.join(f'{self.write(key)}: {self.write(item)}' for key, item in value['items'])}}}"

    def _call(self, value: Any) -> str:
        return f"{self.write(value['of'])}({self.arguments(value['args'], value['kwargs'])})"

    def arguments(self, args: Any, kwargs: Any) -> str:
        """``1, b=2``."""
        positional = [self.write(item) for item in args]
        named = [(name, self.write(item)) for name, item in kwargs.items()]
        written = [f"{name}={text}" for name, text in named if _is_keyword_argument(name)]
        strange = [f"**{{{name!r}: {text}}}" for name, text in named if not _is_keyword_argument(name)]
        return ", ".join([*positional, *written, *strange])

    def _object(self, value: Any) -> str:
        self.uses_rebuilt = True
        attributes = ", ".join(f"{name!r}: {self.write(item)}" for name, item in value["attributes"].items())
        return f"rebuilt({self.write(value['of'])}, {{{attributes}}})"

    def _numpy(self, value: Any) -> str:
        self.imports.add("numpy")
        if value["scalar"]:
            return f"numpy.{value['dtype']}({value['value']})"
        if value["value"] is None:
            return f"numpy.random.default_rng(0).standard_normal({value['shape']}).astype({value['dtype']!r})"
        return f"numpy.array({value['value']}, dtype={value['dtype']!r})"

    def _module(self, value: Any) -> str:
        """A constructor call; later changes of the module follow as lines that use ``{it}``."""
        text = f"{self.write(value['of'])}({self.arguments(value['args'], value['kwargs'])})"
        dtypes, devices = value["dtypes"], value["devices"]
        if len(dtypes) == 1 and dtypes[0] != FLOAT32:
            text += f".to({dtypes[0]})"
        if len(devices) == 1 and devices[0] != "cpu":
            device = self.device(devices[0])
            text += f".to({device!r})" if device != "cpu" else ""
        if not value["training"]:
            text += ".eval()"
        if value["frozen"] and len(value["frozen"]) == value["parameters"]:
            text += ".requires_grad_(False)"
        changes = list(self._changes(value))
        if value.get("state"):
            self.saved.append(value["state"])
            changes.append(f"{{it}}.load_state_dict(saved({value['state']!r}))")
        return "\n".join([text, *changes])

    def _changes(self, value: Any) -> Iterator[str]:
        for path, replacement in value["replaced"].items():
            yield f"{{it}}.set_submodule({path!r}, {self.write(replacement)})"
        for path, training in value["modes"].items():
            if not any(path.startswith(f"{other}.") and mode == training for other, mode in value["modes"].items()):
                yield f"{{it}}.get_submodule({path!r}).train({training})"
        if len(value["frozen"]) < value["parameters"]:
            for name in value["frozen"]:
                yield f"{{it}}.get_parameter({name!r}).requires_grad_(False)"

    def _tensor(self, value: Any) -> str:
        text = self._with_layout(value)
        device = self.device(value["device"])
        if device != "cpu":
            text += f".to({device!r})"
        if value["parameter"]:
            grad = "" if value["requires_grad"] else ", requires_grad=False"
            return f"torch.nn.Parameter({text}{grad})"
        return f"{text}.requires_grad_()" if value["requires_grad"] else text

    def _with_layout(self, value: Any) -> str:
        shape, stride = value["shape"], value["stride"]
        if not shape or stride == contiguous_strides(shape) or 0 in shape:
            return self._values(value, shape)
        if len(shape) == 4 and stride == channels_last_strides(shape):
            return f"{self._values(value, shape)}.to(memory_format=torch.channels_last)"
        expanded = [1 if step == 0 else size for size, step in zip(shape, stride, strict=True)]
        if 0 in stride and stride == [
            0 if step == 0 else s for step, s in zip(stride, contiguous_strides(expanded), strict=True)
        ]:
            return f"{self._values(value, expanded)}.expand({', '.join(map(str, shape))})"
        if 0 in stride:
            raise CannotWrite("An input has overlapping memory that a script cannot rebuild.")
        order = sorted(range(len(shape)), key=lambda dim: (-stride[dim], dim))
        arranged = [shape[dim] for dim in order]
        if [stride[dim] for dim in order] == contiguous_strides(arranged):
            back = ", ".join(str(order.index(dim)) for dim in range(len(shape)))
            return f"{self._values(value, arranged)}.permute({back})"
        return (
            f"torch.empty_strided({tuple(shape)}, {tuple(stride)}, dtype={value['dtype']})"
            f".copy_({self._values(value, shape)})"
        )

    def _values(self, value: Any, shape: list[int]) -> str:
        dtype, values, size = value["dtype"], value["values"], ", ".join(map(str, shape)) or "()"
        typed = "" if dtype == FLOAT32 else f", dtype={dtype}"
        if "file" in values:
            self.saved.append(values["file"])
            return f"saved({values['file']!r})"
        if "list" in values:
            default = {INT64: "", BOOL: "", FLOAT32: ""}.get(dtype, f", dtype={dtype}")
            return f"torch.tensor({values['list']}{default})"
        if "fill" in values:
            return _filled(values["fill"], shape, typed, dtype)
        if "arange" in values:
            start, step = values["arange"]
            end = start + step * shape[0]
            typed = "" if dtype == INT64 else f", dtype={dtype}"
            bounds = str(end) if (start, step) == (0, 1) else f"{start}, {end}" + (f", {step}" if step != 1 else "")
            return f"torch.arange({bounds}{typed})"
        if "tril" in values:
            diagonal, below, above = values["tril"]
            triangle = f"torch.ones({size}, dtype=torch.bool).tril({diagonal or ''})"
            return (
                triangle
                if (below, above) == ("True", "False")
                else f"torch.where({triangle}, {below}, {above}).to({dtype})"
            )
        if "chance" in values:
            return f"(torch.rand({size}) < {values['chance']})"
        if "uniform" in values:
            low, high = values["low"], values["high"]
            text = f"torch.rand({size}{typed})"
            text = text if high - low in (0, 1.0) or abs(high - low - 1) < 0.2 else f"{text} * {high - low:.4g}"
            return f"({text} + {low})" if low > 0.05 else _grouped(text)
        if "high" in values:
            typed = "" if dtype == INT64 else f", dtype={dtype}"
            return f"torch.randint({values['low']}, {values['high'] + 1}, ({size},){typed})"
        text = (
            f"torch.randn({size}{typed})"
            if not dtype.startswith("torch.float8")
            else f"torch.randn({size}).to({dtype})"
        )
        mean, std = values["mean"], values["std"]
        text = text if 0.5 < std < 2 else f"{text} * {std}"
        return f"({text} + {mean})" if abs(mean) > max(std, 1e-3) * 0.5 else _grouped(text)


def _is_keyword_argument(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def _grouped(text: str) -> str:
    """In parentheses, if a method call would otherwise bind to the last operand only."""
    return f"({text})" if " * " in text else text


def _filled(fill: str, shape: list[int], typed: str, dtype: str) -> str:
    size = ", ".join(map(str, shape))
    if not shape:
        return f"torch.tensor({fill}{typed if dtype not in (INT64, BOOL) else ''})"
    if fill in ("0", "0.0", "1", "1.0") and dtype.startswith(("torch.float", "torch.int", "torch.bfloat")):
        return f"torch.{'ones' if fill.startswith('1') else 'zeros'}({size}{typed})"
    shape_text = f"({size},)" if len(shape) == 1 else f"({size})"
    return f"torch.full({shape_text}, {fill}{typed if dtype not in (INT64, BOOL) else ''})"


def contiguous_strides(shape: list[int]) -> list[int]:
    """The strides of a contiguous tensor, in elements."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def channels_last_strides(shape: list[int]) -> list[int]:
    """The strides of a contiguous NHWC tensor that is shown as NCHW."""
    _, channels, height, width = shape
    return [height * width * channels, 1, width * channels, channels]


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _walk(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _walk(item)
