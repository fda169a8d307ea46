//! Generates docs/from-pytorch.md: PyTorch's and candle's names, and ours.
//!
//! A method has PyTorch's name unless its comment says "PyTorch: `..`", and candle's unless it says "Candle: `..`".

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::curated::{Method, curated_methods};
use crate::{check_or_update, operators_by_function};

/// PyTorch's names for what the runtime's `Tensor` and the autograd layer have.
const OTHER_CRATES: &[(&str, &str, &str)] = &[
    ("x.shape", "dims", "x.sizes()"),
    ("x.stride()", "stride", "x.strides()"),
    ("x.dtype", "", "x.dtype()"),
    ("x.device", "", "x.device()"),
    ("x.tolist()", "to_vec1", "x.to_vec::<f32>()"),
    ("torch.tensor([[1., 2.]])", "Tensor::new", "Tensor::from([[1.0, 2.0]])"),
    ("torch.from_numpy(data).reshape(2, 3)", "Tensor::from_vec", "Tensor::from_vec(data, &[2, 3])"),
    ("x + y", "broadcast_add", "&x + &y"),
    ("-x", "neg", "-&x"),
    ("x.requires_grad_()", "Var::from_tensor", "x.requires_grad_(true)"),
    ("x.backward()", "", "x.backward()"),
    ("x.grad", "", "x.grad()"),
    ("torch.no_grad()", "", "autograd::no_grad()"),
    ("torch.manual_seed(0)", "set_seed", "manual_seed(0)"),
    ("torch.device(\"cuda:0\")", "Device::new_cuda", "Device::cuda(0)"),
];

/// The methods of `torch.Tensor` that have no method here: an operator's function has the name.
const TORCH_METHODS: &str = "\
    absolute acos_ addbmm_ addmm_ addmv_ addr_ arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin_ atan2_ \
    atan_ baddbmm_ bitwise_and_ bitwise_not_ bitwise_or_ bitwise_xor_ celu_ cholesky_inverse cholesky_solve \
    clamp_max_ clamp_min_ clip conj_physical copysign_ cosh_ cumprod_ deg2rad_ detach_ digamma_ divide dropout_ elu_ \
    eq_ erf_ erfc_ erfinv_ exp2_ expm1_ fliplr flipud float_power floor_divide_ fmod_ frac_ gcd_ ge_ gelu_ geqrf ger \
    greater greater_equal gt_ hardtanh_ histogram hypot_ i0_ igamma igammac index_put index_reduce_ is_conj is_neg \
    is_same_size is_set_to is_signed istft lcm_ le_ leaky_relu_ less less_equal lgamma_ log10_ log1p_ log2_ \
    logical_and_ logical_not_ logical_or_ logit_ lt_ lu_solve masked_scatter_ multiply nan_to_num_ nanquantile \
    narrow_copy ne_ negative new_empty new_full new_ones new_zeros not_equal orgqr ormqr polygamma_ positive rad2deg_ \
    relu6_ renorm_ resize_ resize_as_ selu_ set_ sign_ silu_ sinc_ sinh_ slice_scatter squeeze_ stft subtract \
    swapaxes_ t_ tan_ threshold_ transpose_ triangular_solve tril_ triu_ true_divide unsqueeze_ xlogy_";

/// The methods of `torch.Tensor` in families that PyTorch has in `torch.nn.functional`.
const METHODS_OF_FUNCTIONAL_FAMILIES: &[&str] =
    &["relu", "relu_", "prelu", "celu", "hardshrink", "softmax", "log_softmax", "norm", "dist", "renorm"];

#[test]
fn from_pytorch_page_matches_the_methods() {
    check_or_update("../docs/from-pytorch.md", &page());
}

fn page() -> String {
    let methods = curated_methods();
    let mut rows: BTreeMap<String, (String, String)> = BTreeMap::new();
    for method in &methods {
        for name in pytorch_names(method) {
            let here = call(method);
            let row = rows.entry(name).or_insert_with(|| (candle_name(method), here.clone()));
            assert!(row.1 == here, "two methods have one name in PyTorch: {} and {here}", row.1);
        }
    }
    for &(pytorch, candle, here) in OTHER_CRATES {
        rows.insert(pytorch.to_owned(), (candle.to_owned(), here.to_owned()));
    }
    let functions = operators_by_function();
    for name in TORCH_METHODS.split_whitespace() {
        let function = functions.keys().find(|function| *function == name || function.starts_with(&format!("{name}_")));
        let function = function.unwrap_or_else(|| panic!("no operator has the name {name}"));
        let tensor = if name.ends_with('_') { "&mut x" } else { "&x" };
        let arguments = functions[function].schema().arguments.len();
        let rest = if arguments > 1 { ", .." } else { "" };
        assert!(!methods.iter().any(|method| method.name == name), "{name} is a method now");
        rows.insert(format!("x.{name}"), (String::new(), format!("aten::{function}({tensor}{rest})")));
    }
    let mut text = "# From PyTorch\n\nPyTorch's names, candle's if they differ, and ours. The test `generated` of aten writes this page from the \
        sources of the methods.\n\nAll of PyTorch's operators are functions with all arguments, in PyTorch's order: `aten::add(&x, &y, 2.into())`. \
        An overload is a function of its\nown: `add.Scalar` is `aten::add_scalar`. The methods here are shorter:\n\n\
        * Sizes are written `(2, 3)`, `[2, 3]`, `2` or `()`, and dimensions `-1` or `[0, 2]`.\n\
        * A number or a tensor is the other operand: `x.gt(0)`, `x.gt(&y)`.\n\
        * `x.sum()` reduces all elements, `x.sum_dims(0)` some dimensions, and `x.sum_keepdim(0)` keeps them with size 1.\n\
        * `x.topk(3)` has PyTorch's defaults, and `x.topk_with(3, TopkOptions { largest: false, ..TopkOptions::default() })` others.\n\
        * `x.add_(&y)` writes to `x`. Operators that give a handle another tensor, such as `t_`, are functions.\n\n\
        | PyTorch | candle | here |\n|---|---|---|\n"
        .to_owned();
    for (pytorch, (candle, here)) in rows {
        let candle = if candle.is_empty() { String::new() } else { format!("`{candle}`") };
        _ = writeln!(text, "| `{pytorch}` | {candle} | `{here}` |");
    }
    text
}

/// Returns PyTorch's names of a method: those in its comment, or else its own name.
fn pytorch_names(method: &Method) -> Vec<String> {
    let prefixed = |name: &str| {
        if ["torch.", "F.", "x["].iter().any(|start| name.starts_with(start)) {
            name.to_owned()
        } else {
            format!("x.{name}")
        }
    };
    let mut names: Vec<String> = words_after(&method.comment, "PyTorch: ").iter().map(|name| prefixed(name)).collect();
    if names.is_empty() {
        let place = match method.family.as_str() {
            _ if method.is_static => "torch.",
            "activation" | "norm" if METHODS_OF_FUNCTIONAL_FAMILIES.contains(&method.name.as_str()) => "x.",
            "activation" | "convolution" | "loss" | "norm" | "pooling" => "F.",
            "linalg" => "torch.linalg.",
            _ => "x.",
        };
        let name = method.name.strip_suffix("_with").map_or_else(|| method.name.clone(), |name| format!("{name}(...)"));
        names.push(format!("{place}{name}"));
    }
    for other in ["Other names: ", "Another name: "] {
        names.extend(words_after(&method.comment, other).iter().map(|name| prefixed(name)));
    }
    names
}

fn candle_name(method: &Method) -> String {
    words_after(&method.comment, "Candle: ").join("`, `")
}

/// Returns the quoted words after a label, which are separated by commas.
fn words_after(comment: &str, label: &str) -> Vec<String> {
    let Some(at) = comment.find(label) else { return Vec::new() };
    let mut words = Vec::new();
    let mut rest = &comment[at + label.len()..];
    while let Some((word, after)) = rest.strip_prefix('`').and_then(|quoted| quoted.split_once('`')) {
        words.push(word.to_owned());
        rest = after.strip_prefix(", ").unwrap_or("");
    }
    words
}

fn call(method: &Method) -> String {
    let receiver = if method.is_static { "Tensor::" } else { "x." };
    format!("{receiver}{}({})", method.name, method.parameters.join(", "))
}
