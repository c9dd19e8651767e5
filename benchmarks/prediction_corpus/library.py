"""Functions and classes of transformers' generation, and of torch's own library."""

from __future__ import annotations

from benchmarks.prediction_corpus.program import Program

_LOGITS = "transformers.generation.logits_process"
_STOPPING = "transformers.generation.stopping_criteria"
_TOKENS = "ids = torch.randint(0, 20, (2, 8))\nscores = torch.randn(2, 20)\n"

_WITHOUT_ENTROPY = ("VonMises", "Poisson")

# the arguments of each constructor
_PROCESSORS = {
    "MinLengthLogitsProcessor": "(4, 1)",
    "MinNewTokensLengthLogitsProcessor": "(4, 4, 1)",
    "TemperatureLogitsWarper": "(0.7)",
    "RepetitionPenaltyLogitsProcessor": "(1.2)",
    "EncoderRepetitionPenaltyLogitsProcessor": "(1.2, torch.randint(0, 20, (2, 4)))",
    "TopPLogitsWarper": "(0.9)",
    "TopKLogitsWarper": "(5)",
    "MinPLogitsWarper": "(0.1)",
    "TypicalLogitsWarper": "(0.9)",
    "EpsilonLogitsWarper": "(0.01)",
    "EtaLogitsWarper": "(0.01)",
    "NoRepeatNGramLogitsProcessor": "(2)",
    "EncoderNoRepeatNGramLogitsProcessor": "(2, torch.randint(0, 20, (2, 4)))",
    "SequenceBiasLogitsProcessor": "([[[1, 2], 0.5], [[3], 1.0]])",
    "NoBadWordsLogitsProcessor": "([[5], [6, 7]], 1)",
    "PrefixConstrainedLogitsProcessor": "(lambda batch, tokens: [1, 2], 1)",
    "ForcedBOSTokenLogitsProcessor": "(1)",
    "ForcedEOSTokenLogitsProcessor": "(9, 1)",
    "InfNanRemoveLogitsProcessor": "()",
    "ExponentialDecayLengthPenalty": "((2, 1.1), 1, 4)",
    "LogitNormalization": "()",
    "SuppressTokensAtBeginLogitsProcessor": "([3], 8)",
    "SuppressTokensLogitsProcessor": "([3])",
    "ClassifierFreeGuidanceLogitsProcessor": "(1.5)",
    "BarkEosPrioritizerLogitsProcessor": "(1, 0.2)",
    "WatermarkLogitsProcessor": "(20, 'cpu')",
    "DiaEOSChannelFilterLogitsProcessor": "(2, 1)",
}
_CRITERIA = {
    "MaxLengthCriteria": "(8)",
    "MaxTimeCriteria": "(10.0)",
    "EosTokenCriteria": "(1)",
    "ConfidenceCriteria": "(0.5)",
}


def _processor(name: str, arguments: str) -> Program:
    call = "f(ids, scores)"
    setup = _TOKENS
    if name == "ClassifierFreeGuidanceLogitsProcessor":
        setup += "scores = torch.randn(4, 20)\n"
    elif name == "ConfidenceCriteria":
        setup += "scores = [scores]\n"
    elif name.startswith("DiaEOSChannel"):
        setup += "scores = torch.randn(4, 20)\n"
    setup += f"subject = module.{name}{arguments}\n"
    module = _STOPPING if name in _CRITERIA else _LOGITS
    return Program(
        f"generation {name}", module, f"{name}.__call__", "subject.__call__", call, setup, family="generation"
    )


def _function(module: str, name: str, setup: str, call: str, is_copied: bool = False) -> Program:
    family = "torch" if module.startswith("torch") else "generation"
    return Program(f"{module} {name} {call}", module, name, f"module.{name}", call, setup, is_copied, family=family)


def _class(module: str, name: str, arguments: str, call: str, setup: str = "") -> Program:
    setup += f"subject = module.{name}{arguments}\n"
    return Program(f"{module} {name}", module, f"{name}()", "subject", call, setup, True, family="torch")


def _distribution(file: str, name: str, arguments: str, value: str) -> list[Program]:
    """Sampling and the density of a distribution, and its entropy where there is one."""
    module = f"torch.distributions.{file}"
    setup = f"d = module.{name}{arguments}\nvalue = {value}\n"
    methods = {"log_prob": "f(value)", "sample": "f()", "entropy": "f()"}
    if name in _WITHOUT_ENTROPY:
        del methods["entropy"]
    return [
        Program(f"{module} {method}", module, f"{name}.{method}", f"d.{method}", call, setup, True, family="torch")
        for method, call in methods.items()
    ]


def _optimizer(file: str, name: str, arguments: str = "lr=0.1") -> Program:
    module = f"torch.optim.{file}"
    setup = (
        "parameter = torch.nn.Parameter(torch.ones(3))\nparameter.grad = torch.ones(3)\n"
        f"optimizer = module.{name}([parameter], {arguments})\n"
    )
    return Program(f"{module} step", module, f"{name}.step", "optimizer.step", "f()", setup, True, family="torch")


GENERATION = [_processor(name, arguments) for name, arguments in (_PROCESSORS | _CRITERIA).items()] + [
    _function("transformers.image_transforms", "center_to_corners_format", "x = torch.rand(3, 4)", "f(x)"),
    _function("transformers.image_transforms", "corners_to_center_format", "x = torch.rand(3, 4)", "f(x)"),
    _function("transformers.pytorch_utils", "meshgrid", "x = torch.rand(4)", "f(x, x, indexing='ij')"),
    _function("transformers.pytorch_utils", "isin_mps_friendly", "x = torch.arange(4)", "f(x, torch.tensor([1, 2]))"),
    _function("transformers.loss.loss_for_object_detection", "dice_loss", "x = torch.rand(2, 4)", "f(x, x.round(), 2)"),
    _function(
        "transformers.loss.loss_for_object_detection",
        "sigmoid_focal_loss",
        "x = torch.rand(2, 4)",
        "f(x, x.round(), 2)",
    ),
    _function("transformers.loss.loss_for_object_detection", "box_area", "x = torch.rand(2, 4)", "f(x)"),
    _function("transformers.loss.loss_for_object_detection", "box_iou", "x = torch.rand(2, 4).cumsum(1)", "f(x, x)"),
    _function(
        "transformers.loss.loss_for_object_detection",
        "generalized_box_iou",
        "x = torch.rand(2, 4).cumsum(1)",
        "f(x, x)",
    ),
    _function(
        "transformers.loss.loss_for_object_detection",
        "nested_tensor_from_tensor_list",
        "xs = [torch.rand(3, 4, 4), torch.rand(3, 5, 4)]",
        "f(xs)",
    ),
    _function(
        "transformers.loss.loss_utils", "ForCausalLMLoss", "x = torch.rand(1, 4, 9)", "f(x, torch.ones(1, 4).long(), 9)"
    ),
    _function(
        "transformers.models.mixtral.modeling_mixtral",
        "load_balancing_loss_func",
        "x = (torch.rand(8, 4), torch.rand(8, 4))",
        "f(x, 4, 2)",
    ),
]

TORCH = [
    *_distribution("normal", "Normal", "(torch.zeros(3), torch.ones(3))", "torch.ones(3)"),
    *_distribution("categorical", "Categorical", "(logits=torch.zeros(3, 4))", "torch.ones(3)"),
    *_distribution("bernoulli", "Bernoulli", "(torch.full((3,), 0.3))", "torch.ones(3)"),
    *_distribution("beta", "Beta", "(torch.ones(3), torch.ones(3))", "torch.full((3,), 0.4)"),
    *_distribution("gamma", "Gamma", "(torch.ones(3), torch.ones(3))", "torch.ones(3)"),
    *_distribution("dirichlet", "Dirichlet", "(torch.ones(3))", "torch.full((3,), 1 / 3)"),
    *_distribution("multivariate_normal", "MultivariateNormal", "(torch.zeros(3), torch.eye(3))", "torch.ones(3)"),
    *_distribution("von_mises", "VonMises", "(torch.zeros(3), torch.ones(3))", "torch.ones(3)"),
    *_distribution("poisson", "Poisson", "(torch.ones(3))", "torch.ones(3)"),
    *_distribution("uniform", "Uniform", "(torch.zeros(3), torch.ones(3))", "torch.full((3,), 0.5)"),
    *_distribution("binomial", "Binomial", "(4, torch.full((3,), 0.5))", "torch.ones(3)"),
    *_distribution("multinomial", "Multinomial", "(4, torch.ones(3))", "torch.tensor([1.0, 2.0, 1.0])"),
    _optimizer("adam", "Adam"),
    _optimizer("adamw", "AdamW"),
    _optimizer("sgd", "SGD", "lr=0.1, momentum=0.9"),
    _optimizer("rmsprop", "RMSprop"),
    _optimizer("adagrad", "Adagrad"),
    _optimizer("adadelta", "Adadelta"),
    _optimizer("adamax", "Adamax"),
    _optimizer("nadam", "NAdam"),
    _optimizer("radam", "RAdam"),
    _optimizer("rprop", "Rprop"),
    _optimizer("asgd", "ASGD"),
    _class("torch.nn.modules.linear", "Linear", "(3, 4)", "f(torch.ones(2, 3))"),
    _class("torch.nn.modules.linear", "Bilinear", "(3, 3, 4)", "f(torch.ones(2, 3), torch.ones(2, 3))"),
    _class("torch.nn.modules.conv", "Conv2d", "(3, 4, 3)", "f(torch.ones(1, 3, 8, 8))"),
    _class("torch.nn.modules.conv", "ConvTranspose2d", "(3, 4, 3)", "f(torch.ones(1, 3, 8, 8))"),
    _class("torch.nn.modules.batchnorm", "BatchNorm2d", "(3)", "f(torch.ones(1, 3, 8, 8))"),
    _class("torch.nn.modules.normalization", "LayerNorm", "(3)", "f(torch.ones(2, 3))"),
    _class("torch.nn.modules.normalization", "GroupNorm", "(1, 3)", "f(torch.ones(2, 3))"),
    _class("torch.nn.modules.rnn", "LSTM", "(3, 4)", "f(torch.ones(2, 1, 3))"),
    _class("torch.nn.modules.rnn", "GRU", "(3, 4)", "f(torch.ones(2, 1, 3))"),
    _class("torch.nn.modules.rnn", "LSTMCell", "(3, 4)", "f(torch.ones(2, 3))"),
    _class(
        "torch.nn.modules.activation",
        "MultiheadAttention",
        "(4, 2)",
        "f(torch.ones(2, 1, 4), torch.ones(2, 1, 4), torch.ones(2, 1, 4))",
    ),
    _class("torch.nn.modules.transformer", "TransformerEncoderLayer", "(4, 2, 8)", "f(torch.ones(2, 1, 4))"),
    _class(
        "torch.nn.modules.transformer",
        "TransformerDecoderLayer",
        "(4, 2, 8)",
        "f(torch.ones(2, 1, 4), torch.ones(2, 1, 4))",
    ),
    _class("torch.nn.modules.loss", "CrossEntropyLoss", "()", "f(torch.rand(2, 4), torch.tensor([0, 1]))"),
    _class("torch.nn.modules.loss", "GaussianNLLLoss", "()", "f(torch.rand(3), torch.rand(3), torch.ones(3))"),
    _class("torch.nn.modules.sparse", "EmbeddingBag", "(5, 3)", "f(torch.tensor([[0, 1]]))"),
    _class(
        "torch.nn.modules.adaptive",
        "AdaptiveLogSoftmaxWithLoss",
        "(8, 12, [4, 8])",
        "f(torch.rand(4, 8), torch.tensor([0, 5, 9, 2]))",
    ),
    _class("torch.nn.modules.pooling", "MaxPool2d", "(2)", "f(torch.ones(1, 3, 8, 8))"),
    _class("torch.nn.modules.upsampling", "Upsample", "(scale_factor=2)", "f(torch.ones(1, 3, 8, 8))"),
    _class("torch.ao.quantization.observer", "MinMaxObserver", "()", "f(torch.rand(4))"),
    _class("torch.ao.quantization.observer", "MovingAverageMinMaxObserver", "()", "f(torch.rand(4))"),
    _class("torch.ao.quantization.observer", "PerChannelMinMaxObserver", "()", "f(torch.rand(4, 4))"),
    _class("torch.ao.quantization.observer", "HistogramObserver", "()", "f(torch.rand(4))"),
    _class("torch.ao.quantization.fake_quantize", "FakeQuantize", "()", "f(torch.rand(4))"),
    _class("torch.ao.quantization.fake_quantize", "FusedMovingAvgObsFakeQuantize", "()", "f(torch.rand(4))"),
    _function("torch._lowrank", "svd_lowrank", "x = torch.rand(6, 5)", "f(x, 3)", True),
    _function("torch._lowrank", "pca_lowrank", "x = torch.rand(6, 5)", "f(x, 3)", True),
    _function("torch._lobpcg", "lobpcg", "x = torch.eye(12) + torch.rand(12, 12) * 0\n", "f(x, 2, niter=2)", True),
    _function("torch.nn.utils.rnn", "pad_sequence", "xs = [torch.ones(3), torch.ones(2)]", "f(xs)", True),
    _function("torch.nn.utils.rnn", "unpad_sequence", "x = torch.ones(3, 2)", "f(x, torch.tensor([3, 2]))", True),
    _function(
        "torch.nn.utils.clip_grad",
        "clip_grad_norm_",
        "p = torch.nn.Parameter(torch.ones(3))\np.grad = torch.ones(3)",
        "f([p], 1.0)",
        True,
    ),
    _function(
        "torch.nn.utils.clip_grad",
        "clip_grad_norm_",
        "p = torch.nn.Parameter(torch.ones(3))\np.grad = torch.ones(3)",
        "f([p], 1.0, error_if_nonfinite=True)",
        True,
    ),
    _function(
        "torch.nn.utils.clip_grad",
        "clip_grad_value_",
        "p = torch.nn.Parameter(torch.ones(3))\np.grad = torch.ones(3)",
        "f([p], 1.0)",
        True,
    ),
    _function(
        "torch.nn.utils.convert_parameters",
        "parameters_to_vector",
        "p = torch.nn.Parameter(torch.ones(3))",
        "f([p])",
        True,
    ),
    _function("torch.autograd.functional", "jacobian", "x = torch.ones(3)", "f(torch.sin, x)", True),
    _function("torch.autograd.functional", "vjp", "x = torch.ones(3)", "f(torch.sin, x, torch.ones(3))", True),
    _function("torch.signal.windows.windows", "hann", "", "f(8)", True),
    _function("torch.signal.windows.windows", "gaussian", "", "f(8)", True),
]
