"""``from_pretrained`` of ``transformers``: builds missing models from a configuration, with random weights.

The library itself builds them, through its path for a given configuration and state dict (``from_pretrained(None, config=…,
state_dict={})``, transformers 4.57, modeling_utils.py): dtype, device, attention and mode are those of the call.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ...runtime.missing_requirement import is_not_found
from .hub_files import WEIGHTS as WEIGHT_FILES
from .hub_files import any_here
from .lookups import CONFIGURATION, Lookups, reason
from .smaller_configuration import Change, shrink_to_fit

WEIGHTS = "weights"
GIVEN, FILE, CLASS, NAME = "given", "file", "class", "name"  # the origin of a configuration
SEED = 0
# arguments of `AutoConfig.from_pretrained` that say where files are (configuration_auto.py and configuration_utils.py)
FILE_ARGUMENTS = frozenset(
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
# arguments of `PreTrainedModel.from_pretrained` that are not passed to its configuration
MODEL_ARGUMENTS = frozenset({"dtype", "torch_dtype", "device_map", "attn_implementation", "quantization_config"})
WEIGHT_FILE_ARGUMENTS = frozenset(
    {"from_tf", "from_flax", "gguf_file", "variant", "use_safetensors", "ignore_mismatched_sizes"}
)
WORDS_OF_NAMES = re.compile(r"[a-z]+|\d+")
# architectures are guessed from names as `transformers` does (configuration_auto.py, `AutoConfig.from_pretrained`: the longest
# known type that occurs anywhere in the name), but a match on word boundaries comes first
SHORTEST_INSIDE = 5  # letters of a match inside a word; "opt" occurs in "adopted"


class TransformersModels:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        # id of a configuration -> the configuration, kept alive so that its id stays unique, and its origin
        self._origins: dict[int, tuple[Any, str]] = {}

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {
            "transformers.configuration_utils": self._change_configurations,
            "transformers.models.auto.configuration_auto": self._change_auto_configuration,
            "transformers.modeling_utils": self._change_models,
            "transformers.models.auto.auto_factory": self._change_auto_models,
            "transformers.pipelines": self._change_pipelines,
        }

    def _change_configurations(self, module: Any) -> None:
        base = getattr(module, "PretrainedConfig", None) or module.PreTrainedConfig
        wrap_from_pretrained(base, lambda original: functools.partial(self._configuration, original, _of_class))

    def _change_auto_configuration(self, module: Any) -> None:
        def of_name(cls: Any, name: str, settings: dict[str, Any]) -> Any:
            kind = architecture_of(name, module.CONFIG_MAPPING_NAMES)
            return None if kind is None else _of_class(module.CONFIG_MAPPING[kind], name, settings)

        wrap_from_pretrained(
            module.AutoConfig, lambda original: functools.partial(self._configuration, original, of_name)
        )

    def _change_models(self, module: Any) -> None:
        wrap_from_pretrained(module.PreTrainedModel, lambda original: functools.partial(self._model, original))

    def _change_auto_models(self, module: Any) -> None:
        """Follow the user's one call, which looks up a configuration and then a model."""

        def followed(original: Any, cls: Any, *args: Any, **named: Any) -> Any:
            with self._lookups.lookup(WEIGHTS):
                return original(cls, *args, **named)

        wrap_from_pretrained(module._BaseAutoModelClass, lambda original: functools.partial(followed, original))

    def _change_pipelines(self, module: Any) -> None:
        original = module.pipeline

        @functools.wraps(original)
        def pipeline(*args: Any, **named: Any) -> Any:
            with self._lookups.lookup(WEIGHTS):
                return original(*args, **named)

        module.pipeline = pipeline

    def _configuration(self, original: Any, make: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Replaces ``from_pretrained`` of a configuration class. ``make`` returns one without a file, or None."""
        with self._lookups.lookup(CONFIGURATION):
            try:
                found = original(cls, *args, **named)
            except Exception as error:  # raised again unless it says that a file is missing
                is_missing = is_not_found(error) and self._lookups.may_substitute(error)
                made = self._made_configuration(make, cls, args, named) if is_missing else None
                if made is None:
                    raise
                configuration, unused, facts = made
                self._lookups.substituted(CONFIGURATION, why=reason(error), **facts)
                return (configuration, unused) if named.get("return_unused_kwargs") else configuration
            known = found[0] if isinstance(found, tuple) else found
            if id(known) not in self._origins:
                self._origins[id(known)] = known, FILE
            return found

    def _made_configuration(
        self, make: Any, cls: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], dict[str, Any]] | None:
        name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
        settings = {key: value for key, value in named.items() if key not in FILE_ARGUMENTS}
        settings.pop("pretrained_model_name_or_path", None)
        settings["return_unused_kwargs"] = True
        try:
            found = make(cls, name, settings)
            if found is None:
                return None
            configuration, unused = found
            changes: tuple[Change, ...] = ()
            if self._lookups.depth == 1:  # the program itself builds a model from it, at whatever size
                smaller = shrink_to_fit(configuration, _model_of(configuration))
                configuration, changes = smaller if smaller is not None else (configuration, ())
        except Exception:  # a class without defaults may raise anything; the error of the look-up is shown
            return None
        origin = CLASS if make is _of_class else NAME
        self._origins[id(configuration)] = configuration, origin
        facts = _facts(name, type(configuration).__name__, configuration, origin, changes)
        return configuration, unused, facts

    def _model(self, original: Any, cls: Any, *args: Any, **named: Any) -> Any:
        """Replaces ``PreTrainedModel.from_pretrained``."""
        with self._lookups.lookup(WEIGHTS):
            try:
                return original(cls, *args, **named)
            except Exception as error:  # raised again unless it says that weights are missing
                name = str(args[0] if args else named.get("pretrained_model_name_or_path", ""))
                # without files, transformers 4.57 continues and raises an AttributeError of its own
                is_missing = is_not_found(error) or not any_here(name, WEIGHT_FILES)
                if not is_missing or not self._lookups.may_substitute(error):
                    raise
                try:
                    made, facts = self._random_model(original, cls, args, dict(named))
                except Exception:  # of the library's constructor; the error of the look-up is shown
                    raise error from error.__cause__
                self._lookups.substituted(WEIGHTS, why=reason(error), **facts)
                return made

    def _random_model(
        self, original: Any, cls: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The model, and the facts for its note. Raises what the library raises, or LookupError if it cannot be made small enough."""
        import torch

        name = args[0] if args else named.pop("pretrained_model_name_or_path", None)
        configuration, rest, origin = self._configuration_for(cls, name, named)
        smaller = shrink_to_fit(configuration, cls)
        if smaller is None:
            raise LookupError(f"{cls.__name__} cannot be made small enough")
        configuration, changes = smaller
        if "auto" in (
            rest.get("dtype"),
            rest.get("torch_dtype"),
        ):  # the dtype of the weights, otherwise of the configuration
            rest.pop("torch_dtype", None)
            rest["dtype"] = getattr(configuration, "dtype", None) or torch.get_default_dtype()
        with torch.random.fork_rng(devices=[]), _quiet():
            torch.manual_seed(SEED)
            model = original(cls, None, *args[1:], config=configuration, state_dict={}, **rest)
        shown = model[0] if isinstance(model, tuple) else model
        shown.config._name_or_path = str(name)
        return model, _facts(str(name), cls.__name__, configuration, origin, changes)

    def _configuration_for(self, cls: Any, name: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any], str]:
        """The configuration, the remaining arguments, and its origin."""
        own = {key: named.pop(key) for key in MODEL_ARGUMENTS & named.keys()}
        for key in WEIGHT_FILE_ARGUMENTS:
            named.pop(key, None)
        given = named.pop("config", None)
        if hasattr(given, "to_dict"):
            left = {key: value for key, value in named.items() if key not in FILE_ARGUMENTS}
            return given, {**left, **own}, self._origins.get(id(given), (given, GIVEN))[1]
        configuration, unused = cls.config_class.from_pretrained(given or name, return_unused_kwargs=True, **named)
        left = {key: value for key, value in unused.items() if key not in FILE_ARGUMENTS}
        return configuration, {**left, **own}, self._origins[id(configuration)][1]


def wrap_from_pretrained(owner: Any, make: Callable[[Any], Any]) -> None:
    """Replace ``from_pretrained`` of ``owner`` by ``make(function)``. Raises KeyError if ``owner`` itself does not define it."""
    original = vars(owner)["from_pretrained"].__func__
    replacing = make(original)

    @functools.wraps(original)
    def called(cls: Any, *args: Any, **named: Any) -> Any:
        return replacing(cls, *args, **named)

    owner.from_pretrained = classmethod(called)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library's list of newly initialized weights."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _of_class(cls: Any, name: str, settings: dict[str, Any]) -> Any:
    """The default configuration with ``settings`` applied as over those of a file, and the unused settings."""
    return cls.from_dict({}, **settings)


def _model_of(configuration: Any) -> Any:
    """The base model for ``configuration``."""
    return sys.modules["transformers"].AutoModel._model_mapping[type(configuration)]


def _facts(name: str, replacement: str, configuration: Any, origin: str, changes: tuple[Change, ...]) -> dict[str, Any]:
    return {
        "name": name,
        "made": replacement,
        "configuration": type(configuration).__name__,
        "origin": origin,
        "changes": [list(change) for change in changes],
    }


def architecture_of(name: str, known: Iterable[str]) -> str | None:
    """The one of ``known`` that ``name``, of a model or its folder, contains; None if there is none."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower()
    plain = "".join(WORDS_OF_NAMES.findall(last))
    starts, ends = _edges(last)
    best: tuple[bool, int, str] | None = None
    for kind in known:
        wanted = "".join(WORDS_OF_NAMES.findall(kind.lower()))
        place = plain.find(wanted) if wanted else -1
        while place >= 0:
            at_word = place in starts and place + len(wanted) in ends
            if at_word or len(wanted) >= SHORTEST_INSIDE:
                found = (at_word, len(wanted), kind)
                best = found if best is None or found[:2] > best[:2] else best
            place = plain.find(wanted, place + 1)
    return None if best is None else best[2]


def _edges(text: str) -> tuple[set[int], set[int]]:
    """Where words and numbers begin and end in ``text`` once separators are removed."""
    starts, ends, place = set(), set(), 0
    for word in WORDS_OF_NAMES.findall(text):
        starts.add(place)
        place += len(word)
        ends.add(place)
    return starts, ends
