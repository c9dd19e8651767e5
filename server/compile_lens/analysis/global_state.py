"""Names the flags of torch's global state that a compiled version was made for (``GLOBAL_STATE``, torch/csrc/dynamo/guards.cpp)."""

from __future__ import annotations

from compile_lens.late_pattern import pattern

WORDS = {
    "grad_mode": "grad mode",
    "torch_function": "`__torch_function__` dispatch",
    "torch_function_all_disabled": "`__torch_function__` dispatch",
    "deterministic_algorithms": "`torch.use_deterministic_algorithms`",
    "deterministic_algorithms_warn_only": "`warn_only` of `torch.use_deterministic_algorithms`",
    "allow_tf32": "TF32 for matrix products",
    "allow_fp16_reduce": "reduced precision for float16 reductions",
    "allow_bf16_reduce": "reduced precision for bfloat16 reductions",
    "num_threads": "the number of threads",
    "default_dtype": "the default dtype",
}
AUTOCAST = pattern(r"^autocast\((?P<device>\w+)\)_(?P<what>\w+)$")


def state_fact_parts(flags: str) -> tuple[str, str]:
    """What ``grad_mode autocast(cpu)_enabled`` guards, as a key, and in the words of a sentence."""
    names = flags.split()
    if not names:
        return "global state", "torch's global state"
    shown = list(dict.fromkeys(_words(name) for name in names))
    return " ".join(names), " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _words(flag: str) -> str:
    autocast = AUTOCAST.match(flag)
    if autocast is not None:
        return f"autocast for `{autocast['device']}`" + (" (dtype)" if autocast["what"] == "dtype" else "")
    return WORDS.get(flag, flag.replace("_", " "))
