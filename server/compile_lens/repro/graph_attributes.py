"""Which attributes the values of a graph have, and which of those of a module are not of the program (torch 2.6 to 2.13).

A graph that says another is refused: one that leads from value to value may lead to a frame of Python, and from there to all of it.
"""

from __future__ import annotations

from compile_lens.late_pattern import pattern

# of tensors, but for those that call a function, or lead to what is no tensor (`dir(torch.Tensor)`)
_OF_TENSORS = """
    H T abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv
    addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_
    arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter asin asin_
    asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bincount bitwise_and bitwise_and_
    bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_
    bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_ ccol_indices cdouble ceil ceil_ cfloat chalf char cholesky
    cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone coalesce col_indices
    conj conj_physical conj_physical_ contiguous copy_ copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cpu cross
    crow_indices cuda cummax cummin cumprod cumprod_ cumsum cumsum_ data deg2rad deg2rad_ dense_dim dequantize det detach detach_ device
    diag diag_embed diagflat diagonal diagonal_scatter diff digamma digamma_ dim dim_order dist div div_ divide divide_ dot double dsplit
    dtype element_size eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_ exponential_
    fill_ fill_diagonal_ fix fix_ flatten flip fliplr flipud float float_power float_power_ floor floor_ floor_divide floor_divide_ fmax
    fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger get_device grad grad_dtype greater greater_ greater_equal
    greater_equal_ gt gt_ half hardshrink heaviside heaviside_ histc histogram hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_
    imag index index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_
    index_select indices inner int int_repr inverse ipu is_coalesced is_complex is_conj is_contiguous is_cpu is_cuda is_floating_point
    is_inference is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_nonzero is_pinned is_quantized is_same_size
    is_set_to is_shared is_signed is_sparse is_sparse_csr is_vulkan is_xla is_xpu isclose isfinite isinf isnan isneginf isposinf isreal
    istft item itemsize kron kthvalue layout lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log
    log10 log10_ log1p log1p_ log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_
    logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long lt lt_ lu lu_solve mH mT
    masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_exp matrix_power max maximum mean median min
    minimum mm mode moveaxis movedim msort mtia mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ name nan_to_num nan_to_num_
    nanmean nanmedian nanquantile nansum narrow narrow_copy nbytes ndim ndimension ne ne_ neg neg_ negative negative_ nelement new_empty
    new_empty_strided new_full new_ones new_tensor new_zeros nextafter nextafter_ nonzero nonzero_static norm normal_ not_equal not_equal_
    numel orgqr ormqr outer output_nr permute pin_memory pinverse polygamma polygamma_ positive pow pow_ prelu prod put put_
    q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr qscheme quantile rad2deg rad2deg_ random_
    ravel real reciprocal reciprocal_ relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave requires_grad requires_grad_
    reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg retains_grad roll rot90 round round_
    row_indices rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select select_scatter sgn sgn_ shape
    short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_inverse slice_scatter slogdet smm softmax sort
    sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ std
    stft stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_ take take_along_dim tan tan_
    tanh tanh_ tensor_split tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc
    to_sparse_csr tolist topk trace transpose transpose_ triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_ type
    type_as unbind unflatten unfold uniform_ unique unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze
    unsqueeze_ values var vdot view view_as vsplit where xlogy xlogy_ xpu zero_
"""
# of what an operator returns with names (torch/return_types.py, torch/_C/_autograd.pyi)
_OF_RESULTS = """
    L LD LU P Q R S U V Vh a bin_edges cloned_coefficient cum_seq_k cum_seq_q debug_attn_mask eigenvalues eigenvectors exponent hist idx
    info log_sumexp logabsdet mantissa mask max_k max_q output philox_offset philox_seed pivots primal rank residuals result rng_state
    singular_values solution tangent tau
"""
# of the context of an `autograd.Function` (torch/autograd/function.py), which is no program's in a graph
_OF_CONTEXTS = """
    dirty_tensors mark_dirty mark_non_differentiable materialize_grads needs_input_grad non_differentiable save_for_backward
    save_for_forward saved_for_forward saved_tensors set_materialize_grads to_save
"""
_OF_VALUES = frozenset(f"{_OF_TENSORS}{_OF_RESULTS}{_OF_CONTEXTS}".split())
# what each module has by `torch.nn.Module`: no tensor and no module of a program has such a name in one (`dir(torch.nn.Module)`)
_NAMES_OF_ANY_MODULE = """
    T_destination _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks
    _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs _get_backward_hooks
    _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks _load_state_dict_pre_hooks
    _maybe_warn_non_full_backward_hook _modules _named_members _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook
    _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks
    _wrapped_call_impl add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval extra_repr
    float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia named_buffers
    named_children named_modules named_parameters parameters register_backward_hook register_buffer register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook
    requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty train type xpu zero_grad
"""
_OF_ANY_MODULE = frozenset(_NAMES_OF_ANY_MODULE.split())
_OF_FRAMES = pattern(r"(?:ag|co|cr|f|gi|tb)_\w+")


def is_of_value(name: object) -> bool:
    """Whether a tensor, or what an operator returns, has the attribute or the method ``name``."""
    return name in _OF_VALUES


def is_of_program(name: str) -> bool:
    """Whether ``name`` may be what a module of the program owns: a tensor, a number or another module."""
    return not name.startswith("__") and name not in _OF_ANY_MODULE and _OF_FRAMES.fullmatch(name) is None
