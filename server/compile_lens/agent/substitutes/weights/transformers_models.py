"""``from_pretrained`` of ``transformers``: what is not there is made from a configuration, with random weights.

The library makes it itself, by its own way for a configuration and weights that are given (``from_pretrained(None, config=…,
state_dict={})``, transformers 4.57, modeling_utils.py): data type, device, attention and mode are those of the call.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_lack
from .architecture_names import architecture_of
from .hub_files import WEIGHTS as WEIGHT_FILES
from .hub_files import any_here
from .lookups import CONFIGURATION, Calls, reason
from .smaller_configuration import Change, shrunk

WEIGHTS = "weights"
GIVEN, FILE, CLASS, NAME = "given", "file", "class", "name"  # where a configuration is from
SEED = 0
# arguments of `AutoConfig.from_pretrained` that are about where files are (configuration_auto.py and configuration_utils.py)
ABOUT_FILES = frozenset(
    {
        "cache_dir",
        "force_download",
        "resume_download",
        "local_files_only",
        "proxies",
        "token",
        "use_auth_token",
        "revision",
        "subfolder",
        "gguf_file",
        "user_agent",
        "trust_remote_code",
        "code_revision",
        "mirror",
        "_from_auto",
        "_from_pipeline",
        "_commit_hash",
    }
)
# arguments of `PreTrainedModel.from_pretrained` that its configuration does not get
OF_MODEL = frozenset({"dtype", "torch_dtype", "device_map", "attn_implementation", "quantization_config"})
OF_FILES = frozenset({"from_tf", "from_flax", "gguf_file", "variant", "use_safetensors", "ignore_mismatched_sizes"})


class Models:
    """The changes, each for the module that it is called with."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        # id of a configuration -> it, kept so that no other takes its id, and where it is from
        self._origins: dict[int, tuple[Any, str]] = {}

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """By the name of the module."""
        return {
            "transformers.configuration_utils": self._change_configurations,
            "transformers.models.auto.configuration_auto": self._change_auto_configuration,
            "transformers.modeling_utils": self._change_models,
            "transformers.models.auto.auto_factory": self._change_auto_models,
            "transformers.pipelines": self._change_pipelines,
        }

    def _change_configurations(self, module: Any) -> None:
        base = getattr(module, "PretrainedConfig", None) or module.PreTrainedConfig
        wrap_class_method(base, lambda original: functools.partial(self._configuration, original, _of_class))

    def _change_auto_configuration(self, module: Any) -> None:
        def of_name(cls: Any, name: str, settings: dict[str, Any]) -> Any:
            kind = architecture_of(name, module.CONFIG_MAPPING_NAMES)
            return None if kind is None else _of_class(module.CONFIG_MAPPING[kind], name, settings)

        wrap_class_method(module.AutoConfig, lambda original: functools.partial(self._configuration, original, of_name))

    def _change_models(self, module: Any) -> None:
        wrap_class_method(module.PreTrainedModel, lambda original: functools.partial(self._model, original))

    def _change_auto_models(self, module: Any) -> None:
        """One call of a user's, which asks for a configuration and then for a model."""

        def followed(original: Any, cls: Any, *args: Any, **named: Any) -> Any:
            with self._calls.asking(WEIGHTS):
                return original(cls, *args, **named)

        wrap_class_method(module._BaseAutoModelClass, lambda original: functools.partial(followed, original))

    def _change_pipelines(self, module: Any) -> None:
        original = module.pipeline

        @functools.wraps(original)
        def pipeline(*args: Any, **named: Any) -> Any:
            with self._calls.asking(WEIGHTS):
                return original(*args, **named)

        module.pipeline = pipeline

    def _configuration(self, original: Any, make: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Stands for ``from_pretrained`` of a class of configurations. ``make`` gives one without a file, or None."""
        with self._calls.asking(CONFIGURATION):
            try:
                found = original(cls, *args, **named)
            except Exception as error:
                is_wanted = is_lack(error) and self._calls.may_stand_in(error)
                made = self._made_configuration(make, cls, args, named) if is_wanted else None
                if made is None:
                    raise
                configuration, unused, facts = made
                self._calls.made_up(CONFIGURATION, why=reason(error), **facts)
                return (configuration, unused) if named.get("return_unused_kwargs") else configuration
            known = found[0] if isinstance(found, tuple) else found
            if id(known) not in self._origins:
                self._origins[id(known)] = known, FILE
            return found

    def _made_configuration(
        self, make: Any, cls: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], dict[str, Any]] | None:
        name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
        settings = {key: value for key, value in named.items() if key not in ABOUT_FILES}
        settings.pop("pretrained_model_name_or_path", None)
        settings["return_unused_kwargs"] = True
        try:
            found = make(cls, name, settings)
            if found is None:
                return None
            configuration, unused = found
            changes: tuple[Change, ...] = ()
            if self._calls.depth == 1:  # what is made of it is the program's own affair, and its size, too
                smaller = shrunk(configuration, _model_of(configuration))
                configuration, changes = smaller if smaller is not None else (configuration, ())
        except Exception:  # a class that cannot be made of nothing
            return None
        origin = CLASS if make is _of_class else NAME
        self._origins[id(configuration)] = configuration, origin
        facts = _facts(name, type(configuration).__name__, configuration, origin, changes)
        return configuration, unused, facts

    def _model(self, original: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Stands for ``PreTrainedModel.from_pretrained``."""
        with self._calls.asking(WEIGHTS):
            try:
                return original(cls, *args, **named)
            except Exception as error:
                name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
                # without files transformers 4.57 goes on, and raises an AttributeError of its own
                is_lacking = is_lack(error) or not any_here(name, WEIGHT_FILES)
                if not is_lacking or not self._calls.may_stand_in(error):
                    raise
                try:
                    made, facts = self._random_model(original, cls, args, dict(named))
                except Exception:  # a model that its library cannot make of a configuration alone
                    raise error from error.__cause__
                self._calls.made_up(WEIGHTS, why=reason(error), **facts)
                return made

    def _random_model(
        self, original: Any, cls: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The model, and what is told of it. Raises what the library raises, or LookupError if every model of it is too large."""
        import torch

        name = args[0] if args else named.pop("pretrained_model_name_or_path", None)
        configuration, rest, origin = self._configuration_for(cls, name, named)
        smaller = shrunk(configuration, cls)
        if smaller is None:
            raise LookupError(f"no model of {cls.__name__} is small enough")
        configuration, changes = smaller
        if "auto" in (
            rest.get("dtype"),
            rest.get("torch_dtype"),
        ):  # that of the weights, else that of the configuration
            rest.pop("torch_dtype", None)
            rest["dtype"] = getattr(configuration, "dtype", None) or torch.get_default_dtype()
        with torch.random.fork_rng(devices=[]), _quiet():
            torch.manual_seed(SEED)
            model = original(cls, None, *args[1:], config=configuration, state_dict={}, **rest)
        shown = model[0] if isinstance(model, tuple) else model
        shown.config._name_or_path = str(name)
        return model, _facts(str(name), cls.__name__, configuration, origin, changes)

    def _configuration_for(self, cls: Any, name: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any], str]:
        """The configuration, the arguments that are left, and where it is from."""
        own = {key: named.pop(key) for key in OF_MODEL & named.keys()}
        for key in OF_FILES:
            named.pop(key, None)
        given = named.pop("config", None)
        if hasattr(given, "to_dict"):
            left = {key: value for key, value in named.items() if key not in ABOUT_FILES}
            return given, {**left, **own}, self._origins.get(id(given), (given, GIVEN))[1]
        configuration, unused = cls.config_class.from_pretrained(given or name, return_unused_kwargs=True, **named)
        left = {key: value for key, value in unused.items() if key not in ABOUT_FILES}
        return configuration, {**left, **own}, self._origins[id(configuration)][1]


def wrap_class_method(owner: Any, make: Callable[[Any], Any], method: str = "from_pretrained") -> None:
    """Put another class method in the place of ``owner``'s own; ``make`` gets its function. Raises KeyError if it has none."""
    original = vars(owner)[method].__func__
    replacing = make(original)

    @functools.wraps(original)
    def called(cls: Any, *args: Any, **named: Any) -> Any:
        return replacing(cls, *args, **named)

    setattr(owner, method, classmethod(called))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's list of every weight that it had to make."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _of_class(cls: Any, name: str, settings: dict[str, Any]) -> Any:
    """The default configuration, with ``settings`` as they would be set over those of a file; and what is left of them."""
    return cls.from_dict({}, **settings)


def _model_of(configuration: Any) -> Any:
    """The base model for ``configuration``."""
    return sys.modules["transformers"].AutoModel._model_mapping[type(configuration)]


def _facts(name: str, made: str, configuration: Any, origin: str, changes: tuple[Change, ...]) -> dict[str, Any]:
    return {
        "name": name,
        "made": made,
        "configuration": type(configuration).__name__,
        "origin": origin,
        "changes": [list(change) for change in changes],
    }
