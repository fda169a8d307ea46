"""Records outputs and gradients of PyTorch's embeddings, attention, transformers and recurrent layers.

    python record.py

Parameters, inputs and cotangents are not recorded: a formula of their number and their elements gives them, here and in the test. The file
`recorded.npz` has one flat array of f64 for each case, and `index`: a line for each case, with the names of its tensors and their counts.
"""

import pathlib

import numpy
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CASES = {}


def values(number, sizes):
    """The elements of the tensor with this number."""
    count = int(numpy.prod(sizes))
    elements = (numpy.arange(1, count + 1) * 7919 + number * 104729) % 2003 / 2003 - 0.5
    return torch.tensor(elements.reshape(sizes), dtype=torch.float64)


def flat(result):
    """The tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for part in result for tensor in flat(part)]


def case(name, module, sizes, call=None, eval=False):
    """Records a call of a module. `sizes` has the sizes of the inputs that need gradients."""
    module = module.double()
    module.train(not eval)
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(values(number, parameter.shape))
    inputs = [values(100 + number, each).requires_grad_() for number, each in enumerate(sizes)]
    outputs = flat((call or module)(*inputs) if call is None else call(module, *inputs))
    sum((out * values(200 + number, out.shape)).sum() for number, out in enumerate(outputs)).backward()
    recorded = [(f"out{number}", out) for number, out in enumerate(outputs)]
    recorded += [(f"in{number}", each.grad) for number, each in enumerate(inputs)]
    recorded += [(key, parameter.grad) for key, parameter in module.named_parameters()]
    CASES[name] = [(key, tensor.detach().flatten().numpy()) for key, tensor in recorded if tensor is not None]


def indices(rows, *sizes):
    count = int(numpy.prod(sizes))
    return torch.tensor((numpy.arange(count) * 7 + 3) % rows).reshape(sizes)


def record_embeddings():
    for name, options in {
        "plain": {},
        "padding": {"padding_idx": -1},
        "frequency": {"scale_grad_by_freq": True},
        "norm": {"max_norm": 0.5, "norm_type": 1.0},
    }.items():
        case(f"embedding_{name}", nn.Embedding(6, 3, **options), [], lambda m: m(indices(6, 2, 5)))
    offsets = torch.tensor([0, 3, 3, 7])
    for name, options in {
        "mean": {},
        "sum": {"mode": "sum"},
        "max": {"mode": "max"},
        "padding": {"padding_idx": 2},
        "frequency": {"scale_grad_by_freq": True, "mode": "sum"},
        "norm": {"max_norm": 0.5},
    }.items():
        make = lambda: nn.EmbeddingBag(6, 3, **options)
        case(f"bag_{name}_rows", make(), [], lambda m: m(indices(6, 2, 5)))
        case(f"bag_{name}_offsets", make(), [], lambda m: m(indices(6, 10), offsets))
    last = nn.EmbeddingBag(6, 3, include_last_offset=True)
    case("bag_last_offset", last, [], lambda m: m(indices(6, 10), torch.tensor([0, 3, 3, 10])))
    weighted = lambda: nn.EmbeddingBag(6, 3, mode="sum")
    case("bag_weighted_rows", weighted(), [(2, 5)], lambda m, w: m(indices(6, 2, 5), per_sample_weights=w))
    case("bag_weighted_offsets", weighted(), [(10,)], lambda m, w: m(indices(6, 10), offsets, w))


def record_attention():
    queries, keys = (3, 2, 4), (5, 2, 4)
    padding = torch.tensor([[False, False, True, False, False], [False, False, False, True, True]])
    pairs = torch.zeros(4, 3, 5, dtype=torch.bool)
    pairs[:, 0, 1] = pairs[1, 2, 3] = pairs[3, 1, 4] = True
    plain = lambda m, q, k, v: m(q, k, v, need_weights=False)[0]
    case("attention_plain", nn.MultiheadAttention(4, 2), [queries, keys, keys], plain)
    case("attention_self", nn.MultiheadAttention(4, 2), [queries], lambda m, x: plain(m, x, x, x))
    case("attention_weights", nn.MultiheadAttention(4, 2), [queries, keys, keys], lambda m, q, k, v: m(q, k, v))
    each = lambda m, q, k, v: m(q, k, v, average_attn_weights=False)
    case("attention_head_weights", nn.MultiheadAttention(4, 2), [queries, keys, keys], each)
    case("attention_no_bias", nn.MultiheadAttention(4, 2, bias=False), [queries, keys, keys], plain)
    case("attention_bias_kv", nn.MultiheadAttention(4, 2, add_bias_kv=True), [queries, keys, keys], plain)
    case("attention_zero", nn.MultiheadAttention(4, 2, add_zero_attn=True), [queries, keys, keys], plain)
    sizes = nn.MultiheadAttention(4, 2, kdim=3, vdim=5)
    case("attention_sizes", sizes, [queries, (5, 2, 3), (5, 2, 5)], plain)
    first = [(2, 3, 4), (2, 5, 4), (2, 5, 4)]
    case("attention_batch_first", nn.MultiheadAttention(4, 2, batch_first=True), first, plain)
    case("attention_unbatched", nn.MultiheadAttention(4, 2), [(3, 4), (5, 4), (5, 4)], lambda m, q, k, v: m(q, k, v))
    case("attention_dropout", nn.MultiheadAttention(4, 2, dropout=0.5), [queries, keys, keys], plain, eval=True)
    masked = lambda **masks: lambda m, q, k, v: m(q, k, v, **masks)
    everything = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)
    for name, masks in {
        "padding": {"key_padding_mask": padding},
        "numbers": {"attn_mask": values(300, (3, 5))},
        "pairs": {"attn_mask": pairs},
        "both": {"key_padding_mask": padding, "attn_mask": pairs},
    }.items():
        case(f"attention_mask_{name}", nn.MultiheadAttention(4, 2), [queries, keys, keys], masked(**masks))
        case(f"attention_all_mask_{name}", everything, [queries, keys, keys], masked(**masks))
        everything = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)
    later = torch.ones(3, 3, dtype=torch.bool).triu(1)
    causal = lambda m, x: m(x, x, x, attn_mask=later, is_causal=True, need_weights=False)[0]
    case("attention_causal", nn.MultiheadAttention(4, 2), [queries], causal)
    causal = lambda m, x: m(x, x, x, attn_mask=later, key_padding_mask=padding[:, :3])
    case("attention_causal_padding", everything, [queries], causal)


def record_transformers():
    source, target = (3, 2, 4), (5, 2, 4)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    encoder = lambda **options: nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, **options)
    decoder = lambda **options: nn.TransformerDecoderLayer(4, 2, dim_feedforward=6, dropout=0.0, **options)
    for name, options in {
        "plain": {},
        "gelu": {"activation": "gelu"},
        "norm_first": {"norm_first": True},
        "no_bias": {"bias": False},
        "eps": {"layer_norm_eps": 0.1},
    }.items():
        case(f"encoder_layer_{name}", encoder(**options), [source])
        case(f"decoder_layer_{name}", decoder(**options), [target, source])
    case("encoder_layer_batch_first", encoder(batch_first=True), [(2, 3, 4)])
    case("decoder_layer_batch_first", decoder(batch_first=True), [(2, 5, 4), (2, 3, 4)])
    dropout = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.5)
    case("encoder_layer_dropout", dropout, [source], eval=True)
    causal = lambda m, x: m(x, src_mask=later[:3, :3], src_key_padding_mask=padding)
    case("encoder_layer_masked", encoder(), [source], causal)
    masked = lambda m, x, memory: m(x, memory, tgt_mask=later, memory_key_padding_mask=padding)
    case("decoder_layer_masked", decoder(), [target, source], masked)
    stack = nn.TransformerEncoder(encoder(), 2, norm=nn.LayerNorm(4), enable_nested_tensor=False)
    case("encoder_stack", stack, [source], lambda m, x: m(x, src_key_padding_mask=padding))
    stack = nn.TransformerEncoder(encoder(), 2, enable_nested_tensor=False)
    case("encoder_stack_no_norm", stack, [source])
    case("decoder_stack", nn.TransformerDecoder(decoder(), 2, norm=nn.LayerNorm(4)), [target, source], masked)
    whole = nn.Transformer(4, 2, 1, 2, dim_feedforward=6, dropout=0.0, batch_first=True)
    case("transformer", whole, [(2, 3, 4), (2, 5, 4)], lambda m, s, t: m(s, t, tgt_mask=later))


def record_recurrent():
    kinds = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
    for kind, layer in kinds.items():
        is_lstm = kind == "lstm"
        case(f"{kind}_plain", layer(3, 4), [(5, 2, 3)])
        deep = {"num_layers": 2, "bidirectional": True, "batch_first": True}
        case(f"{kind}_deep", layer(3, 4, **deep), [(2, 5, 3)])
        case(f"{kind}_no_bias", layer(3, 4, bias=False), [(5, 2, 3)])
        case(f"{kind}_dropout", layer(3, 4, num_layers=2, dropout=0.5), [(5, 2, 3)], eval=True)
        case(f"{kind}_unbatched", layer(3, 4), [(5, 3)])
        states = 2 if is_lstm else 1
        call = lambda m, x, *state: m(x, tuple(state) if is_lstm else state[0])
        case(f"{kind}_state", layer(3, 4, num_layers=2), [(5, 2, 3)] + [(2, 2, 4)] * states, call)
        case(f"{kind}_unbatched_state", layer(3, 4), [(5, 3)] + [(1, 4)] * states, call)

        def packed(m, x, *state):
            pack = pack_padded_sequence(x, torch.tensor([2, 5, 3]), enforce_sorted=False)
            output, state = m(pack, tuple(state) if is_lstm else state[0])
            return pad_packed_sequence(output)[0], state

        bidirectional = layer(3, 4, bidirectional=True)
        case(f"{kind}_packed", bidirectional, [(5, 3, 3)] + [(2, 3, 4)] * states, packed)
    case("rnn_relu", nn.RNN(3, 4, nonlinearity="relu"), [(5, 2, 3)])
    case("lstm_projection", nn.LSTM(3, 4, num_layers=2, proj_size=2), [(5, 2, 3)])
    call = lambda m, x, h, c: m(x, (h, c))
    projected = nn.LSTM(3, 4, proj_size=2, bidirectional=True)
    case("lstm_projection_state", projected, [(5, 2, 3), (2, 2, 2), (2, 2, 4)], call)
    for kind, cell in {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}.items():
        states = 2 if kind == "lstm" else 1
        call = lambda m, x, *state: m(x, tuple(state) if kind == "lstm" else state[0])
        case(f"{kind}_cell_plain", cell(3, 4), [(2, 3)])
        case(f"{kind}_cell_no_bias", cell(3, 4, bias=False), [(2, 3)] + [(2, 4)] * states, call)
        case(f"{kind}_cell_unbatched", cell(3, 4), [(3,)] + [(4,)] * states, call)
    case("rnn_cell_relu", nn.RNNCell(3, 4, nonlinearity="relu"), [(2, 3)])


record_embeddings()
record_attention()
record_transformers()
record_recurrent()
lines = [" ".join([name] + [f"{key}:{len(array)}" for key, array in parts]) for name, parts in CASES.items()]
arrays = {name: numpy.concatenate([array for _, array in parts]) for name, parts in CASES.items()}
arrays["index"] = numpy.frombuffer("\n".join(lines).encode(), dtype=numpy.uint8)
numpy.savez_compressed(pathlib.Path(__file__).with_name("recorded.npz"), **arrays)
