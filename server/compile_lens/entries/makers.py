"""What of libraries a call may use that a program says: makers that do nothing but make an object of their arguments, types, and functions
of computing. They are those that the search writes (`agent/inputs/synthesis`), and those that projects pass most."""

from __future__ import annotations

from compile_lens.late_pattern import pattern

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", *INTEGERS, "bool")
_TYPES = (
    "int",
    "float",
    "complex",
    "bool",
    "str",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "range",
    "slice",
    "object",
)
MAKERS = frozenset(
    [
        "types.SimpleNamespace", "argparse.Namespace", "PIL.Image.new", "collections.OrderedDict", "collections.deque",
        *(f"torch.{name}" for name in ("device", "Size", "Generator", "tensor", "zeros", "ones", "full", "eye", "empty", "arange",
                                       "linspace", "rand", "randn", "randint", "nn.functional.normalize", "nn.utils.rnn.pack_sequence")),
        "torch_geometric.data.Batch", "transformers.BertModel", "transformers.BertConfig",
        *_TYPES,
    ]
)  # fmt: skip
# methods of any object of these calls: how it computes, and its parts
METHODS = frozenset(
    ["eval", "train", "to", "half", "float", "double", "bfloat16", "cpu", "get_submodule", "requires_grad_", "copy"]
)
# methods of tensors that give their numbers a form (agent/inputs/synthesis/terms/tensor_contents.py)
METHODS_OF_TENSORS = frozenset(["softmax", "cumsum", "round", "argsort", "expand"])
_COMPUTING = frozenset(
    [
        "relu", "relu6", "gelu", "silu", "mish", "elu", "selu", "celu", "leaky_relu", "prelu", "sigmoid", "logsigmoid", "tanh", "softplus",
        "softsign", "softmax", "log_softmax", "hardtanh", "hardsigmoid", "hardswish", "tanhshrink", "threshold", "glu", "normalize",
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "kl_div", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "cosine_similarity", "pairwise_distance", "scaled_dot_product_attention", "layer_norm",
        "dropout", "linear", "conv1d", "conv2d", "conv3d", "avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d", "adaptive_avg_pool2d",
        "interpolate", "pad", "one_hot",
    ]
)  # fmt: skip
_OF_TENSORS = frozenset(
    [
        "abs", "add", "amax", "amin", "argmax", "argmin", "bmm", "cat", "clamp", "cos", "cumsum", "div", "einsum", "erf", "exp", "log",
        "log1p", "logsumexp", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "mm", "mul", "neg", "norm", "pow", "prod",
        "reciprocal", "rsqrt", "sign", "sin", "sqrt", "square", "stack", "std", "sub", "sum", "tan", "var", "zeros_like",
        "ones_like", "randn_like", "rand_like",
    ]
)  # fmt: skip
_FORMS = (
    "long",
    "short",
    "int",
    "half",
    "float",
    "double",
    "channels_last",
    "contiguous_format",
    "preserve_format",
    "strided",
    "inf",
    "pi",
)
VALUES = frozenset(
    [
        *MAKERS,
        "len",
        "torch.Tensor",
        *(f"torch.{name}" for name in (*DTYPES, *_FORMS, *_COMPUTING, *_OF_TENSORS)),
        *(f"torch.nn.functional.{name}" for name in _COMPUTING),
        *(f"math.{name}" for name in ("inf", "nan", "pi", "e", "exp", "log", "sqrt")),
    ]
)
# modules of torch that have layers, optimizers and distributions (torch 2.6 to 2.13): what else stands below them leads to all of Python
_MODULES_OF_LAYERS = (
    "activation|adaptive|batchnorm|channelshuffle|container|conv|distance|dropout|flatten|fold|instancenorm|lazy|linear|linear_cross_entropy"
    "|loss|module|normalization|padding|pixelshuffle|pooling|rnn|sparse|transformer|upsampling"
)
_MODULES_OF_OPTIMIZERS = (
    "_adafactor|_muon|adadelta|adagrad|adam|adamax|adamw|asgd|lbfgs|lr_scheduler|nadam|optimizer|radam"
    "|rmsprop|rprop|sgd|sparse_adam|swa_utils"
)
_MODULES_OF_DISTRIBUTIONS = (
    "bernoulli|beta|binomial|categorical|cauchy|chi2|constraints|continuous_bernoulli|dirichlet|distribution|exp_family|exponential"
    "|fishersnedecor|gamma|generalized_pareto|geometric|gumbel|half_cauchy|half_normal|independent|inverse_gamma|kumaraswamy|laplace"
    "|lkj_cholesky|log_normal|logistic_normal|lowrank_multivariate_normal|mixture_same_family|multinomial|multivariate_normal"
    "|negative_binomial|normal|one_hot_categorical|pareto|poisson|relaxed_bernoulli|relaxed_categorical|studentT"
    "|transformed_distribution|transforms|uniform|von_mises|weibull|wishart"
)
_CLASS_OF_TORCH = pattern(
    rf"torch\.(?:nn(?:\.modules(?:\.(?:{_MODULES_OF_LAYERS}))?|\.parallel(?:\.distributed|\.data_parallel)?|\.parameter|\.utils\.rnn)?"
    rf"|optim(?:\.(?:{_MODULES_OF_OPTIMIZERS}))?|distributions(?:\.(?:{_MODULES_OF_DISTRIBUTIONS}))?)\.[A-Z]\w*"
)


# a text that names no file elsewhere, no address and no command with options, and that does nothing where a library evaluates it as an
# expression or a template: it has no brackets and no quotes
_WORDS = pattern(r"[A-Za-z0-9_. +<-][\w ,:=<>*+.!?|^-]{0,200}")


def is_word(text: str) -> bool:
    """Whether a text leads to no file in another folder and to no address, and calls nothing."""
    return not text or (_WORDS.fullmatch(text) is not None and not text.startswith((".", "-")) and "__" not in text)


def is_torch_class(full: str) -> bool:
    """Whether ``full`` is a layer, an optimizer or a distribution of torch; ``nn.Linear``, as the search writes it, too."""
    return _CLASS_OF_TORCH.fullmatch(f"torch.{full}" if full.startswith("nn.") else full) is not None


def is_value_of_libraries(full: str) -> bool:
    """Whether ``full`` is a type, a number or a function of computing."""
    return full in VALUES or is_torch_class(full) or (full.startswith("nn.") and f"torch.{full}" in VALUES)
