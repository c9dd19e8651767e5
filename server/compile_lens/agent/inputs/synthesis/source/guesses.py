"""Tables of what is usually passed to parameters of common names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# sizes among constructor parameters; widths are powers of two, so that they divide one another
SIZES: tuple[tuple[str, int], ...] = (
    # as many as a list that describes each of them has items
    (r"num_(?:feat_|static|dynamic|cat(?!eg))\w*", 2),
    # of a network of convolutions: its width
    (
        r"(?:n|num)_?(?:feats?|features|filters|hiddens?|units|maps|kernels)|nf|ngf|ndf|base_?(?:channels?|filters|width|c|ch|dim)",
        64,
    ),
    (r"(?:num|n)_?(?:kv|key_value|query)_?(?:heads|groups)|kv_heads|num_key_value_heads", 2),
    (r"(?:dim_head|head_dim|d_head|dim_per_head|head_size|d_k|d_v|d_kv|dim_keys?|dim_values?|key_dim)", 16),
    (r"(?:num_|n_|attn_|attention_)?(?:n?heads?|nhead|num_attention_heads)|(?:n|num)_\w+_heads?|\w+_heads", 4),
    (r"(?:.*_)?(?:pad(?:ding)?|ignore|blank|bos|sos|eos|unk|cls|mask)_?(?:idx|index|id|token|label|lb)(?:_id)?", 0),
    (r"depths", 2),
    # of windows, whose usual width divides it
    (r"(?:input|feat|feature|feature_map)_?(?:resolution|res)", 28),
    (r"win(?:dow)?(?:_?size)?", 7),
    (
        r"(?:.*_)?(?:depth|(?:n|num)_?(?:hidden_|encoder_|decoder_)?(?:layers?|blocks?|res_?blocks?|stages?)|layers|(?:num_|block_|layer_)?repeats?|(?:num_|n_)?(?:hierarchies|levels))|(?:n|num)_\w+_(?:layers?|blocks?|stages?)",
        2,
    ),
    (
        r"(?:.*_)?(?:voc(?:ab)?(?:_?size)?|num_tokens|n_tokens|ntoken|num_embeddings|n_vocab|vocabulary_size|num_words|max_features)",
        256,
    ),
    (r"(?:num|n)_?(?:classes|labels|class|outputs?|categories)|classes|nc|out_classes", 10),
    (
        r"(?:image|img|input|frame|crop)_?(?:size|resolution|h|w|height|width)|resolution|(?:im|img)_?sz|height|width|h|w",
        32,
    ),
    (r"(?:.*_)?patch_?(?:size|h|w)?|(?:num_)?patch_len", 8),
    (
        r"(?:n_?|num_)?(?:in|input|img|image)_?(?:channels?|ch|chans?|planes?|c)|channels_in|n_channels|num_channels|inp(?:lanes)?",
        16,
    ),
    (r"(?:.*_)?(?:kernel|k)_?(?:size)?|ks|ksize|kernel_[a-z]|moving_avg|conv_dim|d_conv|conv_kernel(?:_size)?", 3),
    (
        r"(?:.*_)?stride|stride_\w+|(?:.*_)?dilation(?:_rate)?|upsample(?:_factor)?|reduction_ratio|groups|(?:.*_)?num_frames_per",
        1,
    ),
    (r"(?:.*_)?padding|pad", 1),
    (r"(?:.*_)?(?:step|interval|every)", 1),
    (r"num_groups|n_groups|norm_groups|gn_groups", 4),
    (
        r"(?:.*_)?(?:max_?(?:seq_?)?len(?:gth)?|seq_?len(?:gth)?|block_size|context_?(?:length|size|len)?|max_position(?:_embedding)?s?|max_positions|ctx_len|n_ctx|sequence_length|max_length|(?:max_)?num_positions|max_t)",
        64,
    ),
    (r"(?:num_|n_)?(?:experts?)|n_routed_experts", 4),
    (r"(?:topk|num_selected.*|num_experts_per_tok.*)", 2),
    (
        r"(?:mlp|ffn?|ff|feedforward|inner|intermediate|dim_ff|dim_feedforward)_?(?:dim|size|hidden|hidden_dim|hidden_size|channels)?|d_ff|dff|d_inner|hidden_features|ff_mult_dim",
        128,
    ),
    (r"(?:r|rank|lora_rank|d_state|state_dim|dt_rank|codebook_dim)", 8),
    (
        r"expansion|expand|expand_ratio|growth_rate|mult|ff_mult|expansion_factor|multiplier|reduction|squeeze_factor|ratio",
        4,
    ),
    (r"(?:num_)?(?:time_?steps|steps|timesteps|iterations|iters|samples|num_samples|frames|num_frames|n_frames)", 8),
    (r"(?:num_|n_)?(?:mels?|mel_bins|freqs?|freq_bins|bins|fft)", 32),
    (r"(?:num_)?(?:codes|codebook_size|n_embed|num_embeds|queries|num_queries|num_latents|latents)", 32),
    (r"(?:max_)?(?:batch(?:_?size)?|bsz?)|b", 2),
    (
        r"(?:d|dim|n)_?model|model_?(?:dim|size|width|channels)|(?:n_|d_)?(?:embd?|embed|hidden)(?:_?(?:dim|size|channels|units))?|(?:.*_)?(?:embed(?:ding)?|hidden|latent|token|feature|feat)_?(?:dims?|sizes?|channels|width)|dims?|width|(?:in|out)_(?:features|dims?)|features",
        64,
    ),
    (r"d_\w+|(?:\w+_)?(?:dim|width)s?", 64),
    (r"(?:n|num)_\w+", 2),
    (r"scale_factor|(?:up|down)scale(?:_factor)?|factor", 2),
    (r"axis|(?:.*_)?axes", -1),
)
# objects of classes of libraries
_SMALL_BERT = "vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128"
OF_LIBRARIES: dict[str, str] = {
    "torch.dtype": "torch.float32",
    "torch.device": "torch.device('cpu')",
    "transformers.modeling_utils.PreTrainedModel": f"transformers.BertModel(transformers.BertConfig({_SMALL_BERT}))",
    "transformers.configuration_utils.PretrainedConfig": f"transformers.BertConfig({_SMALL_BERT})",
    "transformers.configuration_utils.PreTrainedConfig": f"transformers.BertConfig({_SMALL_BERT})",
}
# shapes among constructor parameters: of several tensors, of images
SHAPES: tuple[tuple[str, str], ...] = (
    (r"(?:\w+_)?shapes", "[[8, 4], [8]]"),
    (r"(?:in|input|img|image|obs|observation|state|frame)_?(?:shape|space)", "(3, 32, 32)"),
)
FLOATS: tuple[tuple[str, float], ...] = (
    (r"(?:.*_)?(?:drop(?:out|path)?(?:_rate|_prob|_p|_path)?|p|prob|drop_?path(?:_rate)?|p_drop(?:out)?|pdrop)", 0.1),
    (r"(?:.*_)?eps(?:ilon)?", 1e-5),
    (r"(?:.*_)?(?:mlp_)?ratio|(?:.*_)?mult(?:iplier)?", 4.0),
    (r"(?:rope_)?theta|base", 10000.0),
    (r"(?:.*_)?(?:decay|momentum|discount)", 0.9),
    (r"(?:label_)?smooth(?:ing)?(?:_eps)?", 0.1),
    (r"commitment(?:_?(?:cost|weight|beta|loss))?|\w+_(?:weight|coeff?|lambda)", 0.25),
    (r"(?:lr|learning_rate|weight_decay|gamma_init|init_values?|layer_scale.*)", 1e-3),
    (r"(?:temperature|temp|tau|scale|alpha|beta|gamma|sigma|std|lambda_?|weight|margin)", 1.0),
)
# parameters that accept a class or a function
MAKERS: tuple[tuple[str, str], ...] = (
    (r"(?:.*_)?(?:loss|criterion|objective)(?:_?(?:fn|func|function|module))?", "torch.nn.MSELoss()"),
    (r"(?:.*_)?act(?:ivation)?_?(?:layer|cls|class)", "torch.nn.GELU"),
    (r"(?:.*_)?norm(?:_layer|_cls|_class|_type)?_?(?:layer|cls|class)", "torch.nn.LayerNorm"),
    (r"(?:.*_)?(?:act(?:ivation)?(?:_fn|_func|_function)?|non_?linearity)", "torch.nn.GELU()"),
    (r"(?:.*_)?norm", "torch.nn.Identity()"),
    (r"(?:.*_)?(?:embed\w*_(?:tokens?|words?)|(?:tok|tokens?|words?)_embed\w*)", "torch.nn.Embedding(256, 64)"),
    (
        r"(?:.*_)?(?:fn|func|function|net|network|module|model|block|layer|submodule|sublayer|backbone|encoder|decoder|generator"
        r"|discriminator|critic|actor|policy|student|teacher|transformer|denoiser|unet|vae|classifier|extractor|embedder|estimator|predictor)",
        "torch.nn.Identity()",
    ),
)
# those that a constructor calls itself
CLASS_MAKERS: tuple[tuple[str, str], ...] = (
    (r"(?:.*_)?(?:loss|criterion|objective)(?:_?(?:fn|func|function|module))?", "torch.nn.MSELoss()"),
    (r"(?:.*_)?norm(?:alization)?(?:_?(?:layer|cls|class|type|fn|module))?(?:_?\d)?", "torch.nn.LayerNorm"),
    (r"(?:.*_)?(?:act(?:ivation)?|non_?lin(?:earity)?)(?:_?(?:layer|cls|class|type|fn|func|module))?", "torch.nn.GELU"),
    (r"(?:.*_)?conv(?:olution)?(?:_?(?:layer|cls|class|type|module))?", "torch.nn.Conv2d"),
    (r"(?:.*_)?linear(?:_?(?:layer|cls|class|type|module))?", "torch.nn.Linear"),
    (r"(?:.*_)?drop(?:out)?_?(?:layer|cls|class)", "torch.nn.Dropout"),
)
# what a number turns out to be that a program calls, or reads attributes of
TABLES: tuple[tuple[str, str], ...] = (
    (
        r"(?:.*_)?(?:emb|embed|embeddings?|embeds|embedder|embed(?:ding)?_?(?:layer|table)|word_?vec\w*|lookup)",
        "torch.nn.Embedding(256, 64)",
    ),
)
WORDS: tuple[tuple[str, str], ...] = (
    (r"(?:.*_)?act(?:ivation)?(?:_fn|_func|_function|_type|_name)?|hidden_act|non_?linearity", "gelu"),
    (r"device", "cpu"),
    (r"reduction", "mean"),
    (r"mode|pool(?:ing)?(?:_type)?", "mean"),
    (r"(?:.*_)?(?:backbone|arch(?:itecture)?|cnn)(?:_?(?:name|type))?", "resnet18"),
    (
        r"(?:.*_)?(?:model|transformer|encoder|bert|lm)_?(?:name|id|name_or_path|name_or_dir)|(?:.*_)?pretrained_\w*name\w*",
        "bert-base-uncased",
    ),
    (r"(?:.*_)?norm(?:_type|alization)?", "layer"),
    # a number is opened as a file of the process; weights that are not there are random ones
    (r"(?:.*_)?(?:(?:file_?)?path|file_?name|ckpt|checkpoint(?:_?file)?)", "model.pt"),
)
OTHER_SIZE = 64
# tensors of a constructor whose values ascend
ASCENDING = r"(?:.*_)?(?:borders|boundaries|edges|bins|knots|thresholds|quantiles|levels|breakpoints|grid_points)"
ASCENDING_VALUES = "torch.linspace(0.0, 1.0, 17)"


@dataclass(frozen=True, slots=True)
class InputGuess:
    """The usual input for a parameter of ``forward``. ``dims`` are names of dimensions; ``below`` limits integers."""

    dtype: str
    dims: tuple[str, ...]
    below: int | None = None
    equal: int | None = None


LABELS_BELOW = 2
DATA_NAMED_AS_LABELS = r"ys?"
INPUTS: tuple[tuple[str, InputGuess], ...] = (
    # what a detector says of each of its queries
    (r"pred(?:icted)?_(?:logits|scores|class(?:es)?(?:_logits)?|cls)", InputGuess("float32", ("B", "Q", "classes"))),
    (r"pred(?:icted)?_(?:boxes|bboxes|bbox)", InputGuess("float32", ("B", "Q", "4"), 1)),
    (r"pred(?:icted)?_masks?(?:_logits)?", InputGuess("float32", ("B", "Q", "H", "W"))),
    (r"(?:.*_)?(?:token_type_ids|segment_ids|segments|segment_info|token_types)", InputGuess("int64", ("B", "T"), 2)),
    (r"(?:.*_)?position_ids|(?:.*_)?positions|pos_ids|cache_position|input_pos", InputGuess("int64", ("B", "T"), 8)),
    (
        r"(?:.*_)?(?:input_ids|token_ids|tokens|input_tokens|ids|idx|indices|prompt_ids|sentences?|words?|captions?|text(?:_tokens)?|seqs|sequences|sequence|src_tokens|tgt_tokens|prev_output_tokens)",
        InputGuess("int64", ("B", "T"), 100),
    ),
    (r"(?:.*_)?(?:attention_mask|attn_mask|input_mask)", InputGuess("int64", ("B", "T"), None, 1)),
    (r"(?:.*_)?(?:key_)?padding_mask|(?:.*_)?pad_mask", InputGuess("bool", ("B", "T"))),
    (r"(?:.*_)?(?:causal_mask|mask|masks)", InputGuess("bool", ("B", "T"))),
    (r"(?:past|future|prior)_(?:targets?|values?|observed_(?:values?|mask))", InputGuess("float32", ("B", "T"))),
    (
        r"(?:.*_)?(?:labels?|targets?|target_ids|y|ys|gt|ground_truth|classes|class_labels|category)",
        InputGuess("int64", ("B",), LABELS_BELOW),
    ),
    (r"(?:.*_)?(?:bbox|boxes)", InputGuess("int64", ("B", "T", "4"), 4)),
    (r"edge_?index", InputGuess("int64", ("2", "E"), 8)),
    (
        r"(?:.*_)?(?:timesteps?|time_?steps?|t|time|times|noise_level|sigmas?|sigma|log_snr|step)",
        InputGuess("float32", ("B",)),
    ),
    # as many as there are steps at first: no row is padded, and none is empty
    (r"(?:.*_)?(?:lengths?|lens?|seq_?lens?)", InputGuess("int64", ("B",), equal=16)),
    (r"(?:.*_)?sizes", InputGuess("int64", ("B",), 8)),
    (r"(?:.*_)?(?:pixel_values_videos|videos?|clips?|frames)", InputGuess("float32", ("B", "F", "3", "H", "W"))),
    (
        r"(?:.*_)?(?:pixel_values|images?|imgs?|img|pixels?|pictures?|photos?|rgb|im)(?:_?\d)?",
        InputGuess("float32", ("B", "3", "H", "W")),
    ),
    (
        r"(?:.*_)?(?:input_values|waveforms?|wavs?|audios?|raw_audio|signals?|speech)",
        InputGuess("float32", ("B", "4000")),
    ),
    (r"(?:.*_)?(?:input_features|mels?|spectrograms?|spec|fbank)", InputGuess("float32", ("B", "80", "F"))),
    (
        r"(?:.*_)?(?:noise|latents?|noisy|feature_?maps?|feats?_?map|fmap|skip)",
        InputGuess("float32", ("B", "C", "H", "W")),
    ),
    (
        r"(?:.*_)?(?:hidden_states|hiddens?|embeddings?|embeds|inputs_embeds|encoder_outputs?|memory|context|cond(?:itioning)?|residual|queries|query|keys?|values?|q|k|v|x_?\d?|src|tgt|z|h|input|inputs|data|batch|features?|feat|sample|states?|u)",
        InputGuess("float32", ("B", "T", "C")),
    ),
    (r"(?:.*_)?(?:logits|preds?|predictions?|outputs?|output|scores?|probs)", InputGuess("float32", ("B", "C"))),
)
# a dense matrix of a graph, beside which other inputs belong to its nodes
ADJACENCY = (
    r"adj(?:acency)?(?:_?(?:mat(?:rix)?|norm|mx|t|hat))?|(?:norm|normalized|dense)_adj\w*|(?:graph_?)?laplacian|a_hat"
)
# those of a graph, whose nodes have no batch of their own
EDGES = r"edge_?(?:ind(?:ex|ices)|list)|edges"
GRAPH_INPUTS: tuple[tuple[str, InputGuess], ...] = (
    (EDGES, InputGuess("int64", ("2", "E"), 8)),
    (ADJACENCY, InputGuess("float32", ("nodes", "nodes"))),
    (r"edge_?types?", InputGuess("int64", ("E",), 2)),
    (r"edge_?(?:weights?|norms?|dist\w*|len\w*)", InputGuess("float32", ("E",))),
    (r"edge_?\w+", InputGuess("float32", ("E", "C"))),
    (
        r"(?:\w+_)?batch(?:_?ind(?:ex|ices)|_?idx|_?vec\w*)?|(?:graph|mol\w*)_?(?:ids?|ind(?:ex|ices))",
        InputGuess("int64", ("nodes",), equal=0),
    ),
    (r"pos(?:ition)?s?|coords?|coordinates|xyz", InputGuess("float32", ("nodes", "3"))),
    (r"z|atomic_?num\w*|\w*atom_?types?|species|node_?types?", InputGuess("int64", ("nodes",), 8)),
    (r"x|h|input|features?|feats?|nodes?|node_?(?:feat|attr|emb)\w*", InputGuess("float32", ("nodes", "C"))),
)
# inputs that are neither tensors nor numbers
PLAIN_INPUTS: tuple[tuple[str, str], ...] = (
    (r"(?:.*_)?device", "torch.device('cpu')"),
    (r"(?:.*_)?dtype", "torch.float32"),
    (r"dim|axis", "-1"),
    (r"keep_?dims?|(?:is|use|return|with|do)_\w+|inverse|reverse|inplace|training|verbose|causal|normalize", "False"),
    (r"(?:batch|dataloader|optimizer)_?(?:idx|index|nb|num)", "0"),
)
UNKNOWN_INPUT = InputGuess("float32", ("B", "T", "C"))
# the first size of a dimension
DIMENSIONS: tuple[tuple[str, int], ...] = (
    (r"n|b|bs|bsz|batch(?:_?size)?|nb|num_samples|minibatch", 2),
    (r"[ctf]?_?h|.*height.*|hh|img_h|h_?in|.*resolution.*|img_size|image_size|size", 32),
    (r"[ctf]?_?w|.*width.*|ww|img_w|w_?in", 32),
    (r"(?:in_?)?c|ch|chans?|.*channels?.*|in_ch|planes", 16),
    (r"f|frames?|num_frames", 8),
    (r"q|num_queries|queries", 8),
    (r"classes|num_classes", 4),
    (r"e|num_edges|edges", 12),
    (r"nodes|num_nodes", 8),
    (r"(?:n|num)_?heads?|heads?|nh", 4),
    (r"t|l|s|seq(?:_?len(?:gth)?)?|.*seq.*|.*len(?:gth)?|time|tokens|t_?\w|m|num_patches|k", 16),
)
OTHER_DIMENSION = 64
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# how many there are of something, in other words than `num_…`
_COUNTED = re.compile(r"(?:(?:number|num|no|nr|n)_of|number|nb|nr)_(\w+)|(\w+)_(?:nums?|number|count|cnt)")


def by_name(table: tuple[tuple[str, Any], ...], name: str) -> Any:
    """The entry of a table whose pattern matches ``name``, or None. Outer underscores and case are ignored; `treeDepth` is `tree_depth`
    where no pattern matches it as one word, and `layer_num` and `nb_layers` are `num_layers`."""
    word = name.strip("_")
    written = dict.fromkeys((word.lower(), _WORD_BEGINS.sub("_", word).lower()))
    for spelled in (*written, *(other for each in written for other in _as_number(each))):
        for pattern, value in table:
            if re.fullmatch(pattern, spelled):
                return value
    return None


def _as_number(name: str) -> tuple[str, ...]:
    """``name`` as `num_…`, of more than one before of one."""
    found = _COUNTED.fullmatch(name)
    if found is None:
        return ()
    of = found[1] or found[2]
    several = (
        () if of.endswith("s") and not of.endswith("ss") else (f"num_{of}es" if of.endswith("ss") else f"num_{of}s",)
    )
    return (*several, f"num_{of}")


def dimension_size(name: str) -> int:
    """The first size of a dimension of this name."""
    found = by_name(DIMENSIONS, name)
    return OTHER_DIMENSION if found is None else int(found)
