"""Every guard that torch can write has words of the user's: each kind of torch/_dynamo/guards.py, and the texts of guards.cpp."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from compile_lens.analysis.guard_sources import guarded_value
from compile_lens.analysis.guard_words import change
from compile_lens.analysis.guards import read_guard
from compile_lens.trace.guard_text import parse_guard_failures

# what only torch's inside knows; none of it may stand in a sentence
INTERNAL = re.compile(
    r"\b[LG]\[|___\w|__(?!torch_function__)\w+__|_modules|_parameters\[|_buffers\[|dict\.keys|cell_contents|\btp_\w|_check_\w"
    r"|0x[0-9a-f]|\d{9,}|\.raw_repr|TYPE_MISMATCH|_dynamo_\w|CURRENT_DEVICE|Accessor"
)

# kind of guard (a method of GuardBuilder): (what a failure of it says, our words)
KINDS = {
    "HASATTR": ("not hasattr(cfg, 'bias')", "`cfg` now has an attribute `bias`"),
    "NOT_PRESENT_IN_GENERIC_DICT": (
        "not ___dict_contains('forward', self._modules['up'].__dict__)",
        "`self.up` now has an attribute `forward` of its own",
    ),
    "TYPE_MATCH": (
        "___check_type_id(k, 140590709051040), type=<class 'float'>  # return x * k  # a.py:5 in f (HINT: type float)",
        "type of `k` changed (was float)",
    ),
    "FAKE_SCRIPT_TYPE_MATCH": (
        "___check_fake_script_type(k, 140590709051040), type=<class 'm.Queue'>",
        "type of `k` changed (was Queue)",
    ),
    "DICT_VERSION": ("___dict_version(G['OPTIONS']) == 12", "content of `OPTIONS` changed (was 12)"),
    "DICT_CONTAINS": ("___dict_contains('a', batch)", "`batch` no longer has key `'a'`"),
    "DICT_NOT_CONTAINS": ("not ___dict_contains('a', batch)", "`batch` now has key `'a'`"),
    "SET_CONTAINS": ("set.__contains__(names, 'a')", "`names` no longer contains `'a'`"),
    "SET_NOT_CONTAINS": ("not set.__contains__(names, 'a')", "`names` now contains `'a'`"),
    "BOOL_MATCH": ("self.late == False", "`self.late` changed (was False)"),
    "NONE_MATCH": ("mask is None", "`mask` changed (was None)"),
    "NOT_NONE_MATCH": ("mask is not None", "`mask` became None"),
    "ID_MATCH": (
        "___check_obj_id(cfg.mode, 140590709051040), type=<class '__main__.Mode'>",
        "`cfg.mode` is another object of type `Mode`",
    ),
    "FUNCTION_MATCH": (
        "___check_obj_id(G['helper'], 140590709051040), type=<class 'function'>",
        "`helper` is another function",
    ),
    "BUILTIN_MATCH": (
        "___check_obj_id(G['__builtins_dict___2']['len'], 140590709051040), type=<class 'builtin_function_or_method'>",
        "`len` is another function",
    ),
    "CLASS_MATCH": (
        "___check_obj_id(kind, 140590709051040), type=<class '__main__.A'>",
        "`kind` is another object of type `A`",
    ),
    "MODULE_MATCH": (
        "___check_obj_id(G['__import_torch_dot_nn_dot_functional'], 140590709051040), type=<class 'module'>",
        "`torch.nn.functional` is another module",
    ),
    "NN_MODULE": (
        "___check_obj_id(self._modules['up'], 140590709051040), type=<class 'torch.nn.modules.linear.Linear'>"
        " (HINT: [inline-inbuilt-nn-modules-candidate])",
        "`self.up` is another object of type `Linear`",
    ),
    "CLOSURE_MATCH": (
        "___check_obj_id(f.__code__, 140590709051040), type=<class 'code'>",
        "another function is passed as `f`",
    ),
    "DISPATCH_KEY_SET_MATCH": (
        "keys.raw_repr() == DispatchKeySet(CPU).raw_repr()",
        "dispatch keys of `keys` changed",
    ),
    "DUAL_LEVEL": (
        "torch.autograd.forward_ad._current_level == -1",
        "the level of forward-mode differentiation changed",
    ),
    "FUNCTORCH_STACK_MATCH": (
        "torch._functorch.pyfunctorch.compare_functorch_state([(1, 2)])",
        "the active `torch.func` transforms changed",
    ),
    "AUTOGRAD_SAVED_TENSORS_HOOKS": (
        "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None  # _dynamo/output_graph.py:1135 in init_ambient_guards",
        "the active hooks on saved tensors changed",
    ),
    "TENSOR_SUBCLASS_METADATA_MATCH": (
        "___check_metadata_140590709051040_c0/0",
        "the metadata of a tensor subclass changed",
    ),
    "DTENSOR_SPEC_MATCH": ("__dtensor_spec_140590709051040", "the mesh or the placements of a DTensor changed"),
    "OPAQUE_OBJ_GUARD_FN_MATCH": (
        "___check_opaque_guard_fn_140590709051040_c0/0",
        "a value that an opaque object guards changed",
    ),
    "EQUALS_MATCH": ("G['OPTIONS']['k'] == 1", "`OPTIONS['k']` changed (was 1)"),
    "CONSTANT_MATCH": ("list(dict.keys(batch))[1] == 'b'", "key 1 of `batch` changed (was 'b')"),
    "CONSTANT_SUBCLASS_MATCH": ("int(self.level) == 3", "`self.level` changed (was 3)"),
    "SEQUENCE_LENGTH": ("not self.seen", "length of `self.seen` changed (was 0)"),
    "EMPTY_NN_MODULE_HOOKS_DICT": (
        "not self._modules['up']._forward_hooks",
        "the number of forward hooks of `self.up` changed (was 0)",
    ),
    "TUPLE_ITERATOR_LEN": ("___tuple_iterator_len(it) == 2", "length of `it` changed (was 2)"),
    "RANGE_ITERATOR_MATCH": ("___normalize_range_iter(it) == (0, 4, 1)", "range of `it` changed (was (0, 4, 1))"),
    "COUNT_ITERATOR_MATCH": ("___normalize_count_iter(it) == (0, 1)", "count of `it` changed (was (0, 1))"),
    "DUPLICATE_INPUT": ("b is a", "`b` is no longer the same object as `a`"),
    "WEAKREF_ALIVE": ("G['cache']() is not None", "`cache()` became None"),
    "MAPPING_KEYS_CHECK": ("list(options.keys()) == ['a', 'b']", "keys of `options` changed (was ['a', 'b'])"),
    "DICT_KEYS_MATCH": ("list(dict.keys(options)) == ['a', 'b']", "keys of `options` changed (was ['a', 'b'])"),
    "GRAD_MODE": ("GLOBAL_STATE changed: grad_mode ", "grad mode changed"),
    "DETERMINISTIC_ALGORITHMS": (
        "GLOBAL_STATE changed: deterministic_algorithms ",
        "`torch.use_deterministic_algorithms` changed",
    ),
    "FSDP_TRAINING_STATE": ("GLOBAL_STATE changed: ", "torch's global state changed"),
    "GLOBAL_STATE": (
        "GLOBAL_STATE changed: grad_mode autocast(cpu)_enabled num_threads ",
        "grad mode, autocast for `cpu` and the number of threads changed",
    ),
    "TORCH_FUNCTION_STATE": (
        "___check_torch_function_mode_stack()",
        "the default device or another `__torch_function__` mode changed",
    ),
    "DEFAULT_DEVICE": (
        "utils_device.CURRENT_DEVICE == device(type='cpu')             # _dynamo/output_graph.py:1122 in init_ambient_guards",
        "the default device changed",
    ),
    "SHAPE_ENV": (
        "y.size()[0] == x.size()[0]  # duck sizing added this equality because these variables had the same size 3",
        "size 0 of `y` no longer equals size 0 of `x`",
    ),
    "TENSOR_MATCH": ("tensor 'x' size mismatch at index 0. expected 64, actual 96", "size 0 of `x` changed (64 → 96)"),
}

# further texts of torch/csrc/dynamo/guards.cpp, guards.py and symbolic_shapes.py: (text, our words)
TEXTS = [
    ("tensor 'x' dtype mismatch. expected Float, actual Double", "dtype of `x` changed (float32 → float64)"),
    ("tensor 'x' rank mismatch. expected 2, actual 3", "rank of `x` changed (2 → 3)"),
    ("tensor 'x' stride mismatch at index 0. expected 6, actual 1", "stride 0 of `x` changed (6 → 1)"),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=1", "`requires_grad` of `x` changed (True → False)"),
    (
        "tensor 'x' Tensor device index mismatch. Expected device index to be 0, actual 1",
        "device index of `x` changed (0 → 1)",
    ),
    (
        "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), actual DispatchKeySet(SparseCPU, AutogradCPU)",
        "dispatch keys of `x` changed (CPU → SparseCPU)",
    ),
    (
        "tensor 'self._modules['up']._parameters['weight']' size mismatch at index 1. expected 4, actual 5. Guard failed on a parameter,"
        " consider using torch._dynamo.config.force_parameter_static_shapes = False to allow dynamism on parameters.",
        "size 1 of `self.up.weight` changed (4 → 5)",
    ),
    (
        "expected type of 'x' to be a tensor type, ' but found <class 'int'>",
        "type of `x` changed (a tensor → int)",
    ),
    ("len(batch) != 2", "length of `batch` changed (was 2)"),
    ("TYPE_MISMATCH(batch)", "type of `batch` changed"),
    ("KeyError on batch['z']", "`batch['z']` no longer exists"),
    ("IndexError on xs[3]", "`xs[3]` no longer exists"),
    ("getattr failed on source self._modules['up'].scale", "`self.up.scale` no longer exists"),
    ("CodeGuardAccessor: Not a function on fn.__code__", "`fn` is no longer a Python function"),
    ("FuncDefaultsGuardAccessor: Not a function on fn.__defaults__", "`fn` is no longer a Python function"),
    ("Duplicate tensors found: [\"x\", \"y\"]", "`x` is now the same tensor as `y`"),
    (
        "Duplicate tensor found where not expected! x should not alias to anything, but is aliased",
        "`x` is the same tensor as another argument",
    ),
    (
        "_has_dynamo_dim_marking is present on runtime tensor but was absent at compile time",
        "dimensions of a tensor are now marked (`mark_dynamic`, `mark_static`)",
    ),
    (
        "_dynamo_static_indices should be absent but is present on runtime tensor",
        "dimensions of a tensor are now marked with `mark_static`",
    ),
    (
        "_dynamo_dynamic_indices not a subset: runtime {0, 1} is not a subset of compiled {0}",
        "other dimensions of a tensor are marked with `mark_dynamic`",
    ),
    (
        "check_overlapping(overlapping=[L['x'], L['y']], non_overlapping=[])",
        "memory that `x` and `y` share changed",
    ),
    (
        "'Shape guard failed with values: x.size()[0]=3'",
        "sizes do not satisfy the conditions of the compiled version",
    ),
    (
        "Cache line invalidated because L['model'] got deallocated",
        "`model` was deleted, which invalidated the version compiled for it",
    ),
    (
        "BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: a.b (id=0x7f00).",
        "the backend is another function",
    ),
    (
        "Unexpected recompilation: runtime guards failed even though they passed during recompilation-reason analysis.",
        "torch gives no reason (calls from several threads?)",
    ),
    ("(type(k) is float and __math_isnan(k))", "`k` changed (was nan)"),
    ("(type(k) is complex and __numpy_isnan(k))", "`k` changed (was nan)"),
    ("x.size()[0] != 5", "size 0 of `x` became 5"),
    ("2 != x.size()[0]", "size 0 of `x` became 2"),
    ("x.size()[0] != y.size()[0]", "size 0 of `x` now equals size 0 of `y`"),
    ("2 <= x.size()[0] <= 5", "size 0 of `x` changed (was 2 to 5)"),
    ("2 <= x.size()[0]", "size 0 of `x` changed (was at least 2)"),
    ("x.size()[0] < 6", "size 0 of `x` changed (was less than 6)"),
    ("2*x.size()[0] > 10", "the condition `2 * x.shape[0] > 10` no longer holds"),
    ("Eq(Mod(x.size()[0], 2), 0)", "guard `Eq(Mod(x.shape[0], 2), 0)` failed"),
    ("dtype == torch.float32", "`dtype` changed (was torch.float32)"),
    ("key == 'a == b'", "`key` changed (was 'a == b')"),
]  # fmt: skip

# expressions of torch/_dynamo/source.py: (source, how it is named)
SOURCES = [
    ("L['x']", "`x`"),
    ("G['SCALE']", "`SCALE`"),
    ("SYNTHETIC_LOCAL['tmp_1']", "`tmp_1`"),
    ("L['self']._modules['layers']._modules['0']._buffers['running']", "`self.layers[0].running`"),
    ("L['self'].__dict__['late']", "`self.late`"),
    ("dict(L['self'].__dict__)['late']", "`self.late`"),
    ("G['__import_torch_dot_nn_dot_modules_dot_linear'].F", "`torch.nn.modules.linear.F`"),
    ("G['__builtins_dict___0']['len']", "`len`"),
    ("L['f'].__closure__[0].cell_contents", "a variable captured by `f`"),
    ("L['f'].__closure__[0].cell_contents.scale", "`scale` of a variable captured by `f`"),
    ("L['f'].__defaults__[1]", "default value 1 of `f`"),
    ("L['f'].__kwdefaults__['bias']", "the default of `bias` of `f`"),
    ("L['m'].__func__.__defaults__[0]", "default value 0 of `m`"),
    ("list(dict.keys(L['batch']))[1]", "key 1 of `batch`"),
    ("L['batch'][list(dict.keys(L['batch']))[0]]", "the value of key 0 of `batch`"),
    ("dict.__getitem__(L['batch'], 'a')", "`batch['a']`"),
    ("list.__getitem__(L['xs'], 2)", "`xs[2]`"),
    ("object.__getattribute__(L['a'], 'b')", "`a.b`"),
    ("getattr(L['a'], 'b')", "`a.b`"),
    ("type(L['a']).__mro__[1].__dict__['k']", "`type(a).k`"),
    ("___tuple_iterator_getitem(L['it'], 0)", "item 0 of `it`"),
    ("___from_numpy(L['array'])", "`array`"),
    ("___as_tensor(L['n'])", "`n`"),
    ("___dataclass_fields(L['cfg'])", "`cfg`"),
    ("cast_symbool_to_symint_guardless(L['flag'])", "`flag`"),
    ("L['x'].__tensor_flatten__()[0]", "`x[0]`"),
    ("L['x'].get_base()", "`x`"),
    ("L['n'].__neg__()", "`-n`"),
    ("L['___stack0']", "a value kept across the graph break"),
    ("___get_torch_function_mode_stack_at(0)", "an internal value of torch"),
    ("<ephemeral: x>", "`<ephemeral: x>`"),
]  # fmt: skip


def words(text: str) -> str:
    (failure,) = parse_guard_failures(f"0/0: {text}")
    return change([read_guard(failure)])


def test_every_kind_of_guard_that_this_torch_can_write_has_words() -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / "_dynamo" / "guards.py").read_text(encoding="utf-8"))
    builder = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "GuardBuilder")
    kinds = {n.name for n in builder.body if isinstance(n, ast.FunctionDef) and n.name.isupper()}
    assert not kinds - set(KINDS), "kinds of guards without words"


@pytest.mark.parametrize(("text", "expected"), [*KINDS.values(), *TEXTS], ids=[*KINDS, *(text for text, _ in TEXTS)])
def test_a_failed_guard_is_told_in_the_words_of_the_user(text: str, expected: str) -> None:
    assert words(text) == expected
    assert not INTERNAL.search(words(text))


@pytest.mark.parametrize(("source", "expected"), SOURCES)
def test_a_source_is_named_as_the_user_writes_it(source: str, expected: str) -> None:
    assert guarded_value(source).words == expected


@pytest.mark.parametrize(
    "text", ["something(new", "L['x'] ~ 3", "___brand_new_check(L['x'], 1)", "a; b", "", "((((" * 400]
)
def test_a_guard_of_an_unknown_form_shows_no_internals(text: str) -> None:
    told = words(text)
    assert told and not INTERNAL.search(told)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (("0.08004499971866608", "-0.020892787724733353"), "was 0.08004, then -0.02089"),
        (("0.1000000001", "0.1000000002"), "was 0.1000000001, then 0.1000000002"),
        (("0.5", "12"), "was 0.5, then 12"),
    ],
)
def test_long_numbers_are_rounded_where_that_tells_them_apart(values: tuple[str, str], shown: str) -> None:
    facts = [read_guard(parse_guard_failures(f"0/0: scale == {value}")[0]) for value in values]
    assert change(facts) == f"`scale` changed ({shown})"


HOOKS = "self._modules['first']._forward_hooks"
KEY = f"{HOOKS}[list(dict.keys({HOOKS}))[0]]"


@pytest.mark.parametrize("holder", ["L['f']", KEY, f"L['g'](L['x'][0]).hooks[f({KEY})]"])
def test_a_captured_variable_has_its_name_wherever_the_function_is_kept(holder: str) -> None:
    hint = '(HINT: guard on "counter".calls)'
    assert (
        words(f"{holder}.__closure__[1].cell_contents.calls == 2  # self.calls += 1  {hint}")
        == "`counter.calls` changed (was 2)"
    )
    assert words(f"len({holder}.__closure__[0].cell_contents) == 1  # {hint}") == "length of `counter` changed (was 1)"
