"""Why the recompiles of some programs have no fix that needs fewer graphs, program by program."""

from __future__ import annotations

OTHER_CODE = (
    "The value chooses which code runs. One graph would compute every branch each time, or ask the device (`torch.cond`): "
    "no rewrite does so for a string, a class or a function."
)
UNROLLED = "The number of items is the number of operations: a loop over them is unrolled."
OTHER_RESULT = "The results have another dtype, rank, layout or device: converted, they are other results."
OTHER_MODE = "Training and evaluation, autocast, the default dtype and grad mode compute something else, or keep more for backward."
GRADIENT = "A graph for a tensor that requires a gradient also computes this gradient, which the program would see."
OTHER_MODULE = "Other modules or layers are other graphs, even if they share the code of `forward`."
NOTHING = "One call has nothing where another has a tensor; no value stands for it in general."
PYTHON_ONLY = (
    "What changes is computed in Python: a length, a lookup or a dropout rate that the operator takes as a number."
)

REASONS = {
    OTHER_CODE: (
        *(
            "recompile_bool_and_string",
            "guards_on_values/by_enum",
            "guards_on_values/by_set_member",
            "guards_on_values/by_bytes",
        ),
        *(
            "guards_on_values/by_function",
            "guards_on_values/by_lambda",
            "guards_on_values/by_partial",
            "guards_on_values/by_class",
        ),
        *("language/matched", "exceptions/chained", "models/activation_by_name", "recompiles/pooled_by_config"),
        *(
            "recompiles_in_training/losses",
            "recompiles/with_attention",
            "recompiles_in_training/optional_labels",
            "guards_on_values/by_int",
        ),
        *("guards_on_tensors/by_divisibility", "guards_on_tensors/by_several"),
    ),
    UNROLLED: (
        *("recompile_containers", "guards_on_values/by_range", "guards_on_values/by_range_iterator"),
        *("guards_on_values/by_tuple_iterator", "drawn/layers_by_step"),
    ),
    OTHER_RESULT: (
        *("recompile_dtype", "guards_on_tensors/by_rank", "guards_on_values/by_dtype_argument", "misc/dtype_changes"),
        *(
            "recompiles/numpy_batch",
            "recompiles/memory_format",
            "wrapped_modules/device_changed",
            "wrapped_modules/function_of_torch",
        ),
        *("guards_on_tensors/by_subclass", "guards_on_tensors/by_aliasing"),
    ),
    OTHER_MODE: (
        *(
            "recompile_train_eval",
            "modules/train_and_eval",
            "recompiles_in_training/train_and_validate",
            "recompiles_in_training/precision",
        ),
        *("guards_on_tensors/by_autocast", "guards_on_tensors/by_default_dtype"),
    ),
    GRADIENT: (
        *(
            "recompile_requires_grad",
            "recompiles_in_training/discriminator",
            "recompiles_in_training/truncated_sequence",
            "recompiles_in_training/frozen_backbone",
        ),
    ),
    OTHER_MODULE: (
        *("wrapped_modules/several_modules_of_torch", "wrapped_modules/attribute_that_is_a_module"),
        *("wrapped_modules/layers_added", "guards_on_tensors/by_swapped_layer", "modules/chosen_by_name"),
        *("recompiles/blocks_one_by_one", "recompiles/ensemble", "break_in_submodule"),
    ),
    NOTHING: ("recompile_none", "guards_on_values/by_missing_key", "recompiles/decoder_cache"),
    PYTHON_ONLY: (
        *("recompile_closure", "recompile_resume", "guards_on_tensors/to_the_limit", "guards_on_values/by_default"),
        *("guards_on_values/by_nested_value", "train/dropout_rate", "wrapped_modules/learning_rate"),
    ),
}


def reason_of(program: str) -> str:
    """The reason of a program, '' where none is known."""
    return next((reason for reason, programs in REASONS.items() if program in programs), "")
