//! Calls for gradient checks of operators without recordings, or whose recordings have no useful gradient.
//!
//! Arguments are JSON. A string that begins with `T` is a tensor of the sizes that follow, such as `T2x3`, with numbers between -2 and 2. A
//! suffix changes the elements: `+` for numbers between 0.5 and 1.5, `u` for numbers between 0.1 and 0.9, `i4` for indices below 4, `?` for
//! a mask.

use dispatch_checks::plumbing::pseudorandom_numbers;
use dispatch_runtime::{DType, Geometry};
use serde_json::{Value as Json, json};

use crate::error::{Error, Result};
use crate::recording::Call;

/// The operators and the arguments of their calls.
const CALL_TEMPLATES: [(&str, &str); 102] = [
    ("_adaptive_avg_pool2d_backward", r#"["T1x2x3x3", "T1x2x5x4"]"#),
    ("_adaptive_avg_pool3d", r#"["T1x2x3x4x3", [2, 2, 2]]"#),
    ("_adaptive_avg_pool3d_backward", r#"["T1x2x2x2x2", "T1x2x3x4x3"]"#),
    ("_chunk_cat", r#"[["T4x2", "T3x2"], 0, 2]"#),
    ("_log_softmax_backward_data", r#"["T2x3", "T2x3", 1, 7]"#),
    ("_reshape_alias", r#"["T2x3", [3, 2], [2, 1]]"#),
    ("_softmax_backward_data", r#"["T2x3", "T2x3", 1, 7]"#),
    ("_to_copy", r#"["T2x3"]"#),
    ("_unsafe_index.Tensor", r#"["T4x3", ["T5i4"]]"#),
    ("_unsafe_index_put", r#"["T4x3", ["T3i4"], "T3x3", true]"#),
    ("_upsample_nearest_exact1d_backward", r#"["T1x2x5", [5], [1, 2, 3]]"#),
    ("_upsample_nearest_exact2d_backward", r#"["T1x2x5x4", [5, 4], [1, 2, 3, 3]]"#),
    ("_upsample_nearest_exact3d", r#"["T1x1x2x3x2", [3, 4, 3]]"#),
    ("_upsample_nearest_exact3d_backward", r#"["T1x1x3x4x3", [3, 4, 3], [1, 1, 2, 3, 2]]"#),
    ("adaptive_max_pool2d_backward", r#"["T1x2x2x2", "T1x2x4x4", "T1x2x2x2i16"]"#),
    ("adaptive_max_pool3d_backward", r#"["T1x1x2x2x2", "T1x1x3x4x3", "T1x1x2x2x2i36"]"#),
    ("addbmm", r#"["T2x4", "T3x2x3", "T3x3x4", 0.5, 1.5]"#),
    ("as_strided_", r#"["T2x3", [2, 2], [1, 2], 1]"#),
    ("atan", r#"["T2x3"]"#),
    ("avg_pool2d_backward", r#"["T1x2x2x2", "T1x2x4x4", [2, 2], [2, 2], [0, 0], false, true, null]"#),
    ("avg_pool3d_backward", r#"["T1x1x2x2x1", "T1x1x4x4x2", [2, 2, 2], [2, 2, 2], [0, 0, 0], false, true, null]"#),
    ("binary_cross_entropy_backward", r#"["T2x3", "T2x3u", "T2x3u", "T2x3+", 0]"#),
    ("col2im", r#"["T1x8x9", [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]]"#),
    (
        "convolution_backward",
        r#"["T1x3x4", "T1x2x5", "T3x2x2", [3], [1], [0], [1], false, [0], 1, [true, true, true]]"#,
    ),
    ("conj_physical", r#"["T2x3"]"#),
    ("copy", r#"["T2x3", "T2x3"]"#),
    ("copy_", r#"["T2x3", "T3"]"#),
    ("copysign.Tensor", r#"["T2x3+", "T2x3"]"#),
    ("diagonal_backward", r#"["T3", [3, 4], 0, 0, 1]"#),
    ("div_.Tensor_mode", r#"["T2x3", "T3+", null]"#),
    ("elu_backward", r#"["T2x3", 1.5, 1.0, 0.5, false, "T2x3"]"#),
    ("embedding_dense_backward", r#"["T4x3", "T4i5", 5, -1, false]"#),
    ("fill.Tensor", r#"["T2x3", "T"]"#),
    ("fill_.Tensor", r#"["T2x3", "T"]"#),
    ("flip", r#"["T2x3", [0, 1]]"#),
    ("gelu_backward", r#"["T2x3", "T2x3", "tanh"]"#),
    ("grid_sampler_2d_backward", r#"["T1x1x2x2", "T1x1x1x3", "T1x2x2x2", 0, 2, true, [false, true]]"#),
    ("grid_sampler_2d_backward", r#"["T1x1x2x2", "T1x1x3x1", "T1x2x2x2", 2, 2, true, [true, false]]"#),
    ("hardsigmoid_backward", r#"["T2x3", "T2x3"]"#),
    ("hardswish_backward", r#"["T2x3", "T2x3"]"#),
    ("hardtanh_backward", r#"["T2x3", "T2x3", -1.0, 1.0]"#),
    ("huber_loss_backward", r#"["T2x3", "T2x3", "T2x3", 0, 1.0]"#),
    ("im2col", r#"["T1x2x4x4", [2, 2], [1, 1], [0, 0], [1, 1]]"#),
    ("index_put_", r#"["T4x3", ["T3i4"], "T3x3", true]"#),
    ("index_select_backward", r#"["T3x3", [4, 3], 0, "T3i4"]"#),
    ("leaky_relu_backward", r#"["T2x3", "T2x3", 0.1, false]"#),
    ("log_sigmoid_backward", r#"["T2x3", "T2x3", "T2x3+"]"#),
    ("logit_backward", r#"["T2x3", "T2x3u", null]"#),
    ("masked_fill_.Tensor", r#"["T2x3", "T2x3?", "T"]"#),
    ("masked_scatter_", r#"["T2x3", "T2x3?", "T6"]"#),
    ("masked_select_backward", r#"["T3", "T2x3", "T2x3?"]"#),
    (
        "max_pool3d_with_indices_backward",
        r#"["T1x1x2x2x1", "T1x1x4x4x2", [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], false, "T1x1x2x2x1i32"]"#,
    ),
    ("mish_backward", r#"["T2x3", "T2x3"]"#),
    ("mse_loss_backward", r#"["T2x3", "T2x3", "T2x3", 0]"#),
    ("mul_.Tensor", r#"["T2x3", "T3"]"#),
    ("native_dropout", r#"["T2x3", 0.5, false]"#),
    ("native_dropout_backward", r#"["T2x3", "T2x3?", 2.0]"#),
    ("nll_loss2d_backward", r#"["T", "T2x3x2x2", "T2x2x2i3", null, 2, -100, "T+"]"#),
    ("nll_loss_backward", r#"["T", "T4x3", "T4i3", null, 2, -100, "T+"]"#),
    ("pow_.Tensor", r#"["T2x3+", "T3"]"#),
    ("reflection_pad1d_backward", r#"["T2x7", "T2x4", [1, 2]]"#),
    ("reflection_pad2d_backward", r#"["T1x6x7", "T1x4x4", [1, 2, 1, 1]]"#),
    ("reflection_pad3d_backward", r#"["T1x4x5x4", "T1x2x3x3", [1, 0, 1, 1, 1, 1]]"#),
    ("replication_pad1d_backward", r#"["T2x7", "T2x4", [1, 2]]"#),
    ("replication_pad2d_backward", r#"["T1x6x7", "T1x4x4", [1, 2, 1, 1]]"#),
    ("replication_pad3d_backward", r#"["T1x4x5x4", "T1x2x3x3", [1, 0, 1, 1, 1, 1]]"#),
    ("scatter.reduce", r#"["T3x4", 1, "T3x1i4", "T3x1", "add"]"#),
    ("scatter.value", r#"["T3x4", 1, "T3x2i4", 2.0]"#),
    ("scatter.value_reduce", r#"["T3x4", 1, "T3x2i4", 2.0, "multiply"]"#),
    ("select_backward", r#"["T3", [2, 3], 0, 1]"#),
    ("sgn", r#"["T2x3"]"#),
    ("sigmoid_backward", r#"["T2x3", "T2x3u"]"#),
    ("silu_backward", r#"["T2x3", "T2x3"]"#),
    ("slice_backward", r#"["T2x3", [5, 3], 0, 1, 5, 2]"#),
    ("slice_scatter", r#"["T5x3", "T2x3", 0, 1, 5, 2]"#),
    ("smooth_l1_loss_backward", r#"["T2x3", "T2x3", "T2x3", 0, 1.0]"#),
    ("soft_margin_loss", r#"["T2x3", "T2x3", 1]"#),
    ("soft_margin_loss_backward", r#"["T2x3", "T2x3", "T2x3", 0]"#),
    ("softplus_backward", r#"["T2x3", "T2x3", 2.0, 20.0]"#),
    ("squeeze_", r#"["T2x1x3"]"#),
    ("squeeze_.dims", r#"["T2x1x3", [1]]"#),
    ("t_", r#"["T2x3"]"#),
    ("tan", r#"["T2x3u"]"#),
    ("tanh_backward", r#"["T2x3", "T2x3u"]"#),
    ("threshold_backward", r#"["T2x3", "T2x3", 0.0]"#),
    ("transpose_", r#"["T2x3", 0, 1]"#),
    ("unfold_backward", r#"["T2x2x2", [2, 4], 1, 2, 2]"#),
    ("unsafe_split_with_sizes", r#"["T5x2", [2, 3], 0]"#),
    ("unsqueeze_", r#"["T2x3", 1]"#),
    ("upsample_bicubic2d_backward", r#"["T1x2x5x4", [5, 4], [1, 2, 3, 3], false]"#),
    ("upsample_bilinear2d_backward", r#"["T1x2x5x4", [5, 4], [1, 2, 3, 3], true]"#),
    ("upsample_linear1d_backward", r#"["T1x2x5", [5], [1, 2, 3], false]"#),
    ("upsample_nearest1d_backward", r#"["T1x2x5", [5], [1, 2, 3]]"#),
    ("upsample_nearest2d_backward", r#"["T1x2x5x4", [5, 4], [1, 2, 3, 3]]"#),
    ("upsample_nearest3d_backward", r#"["T1x1x3x4x3", [3, 4, 3], [1, 1, 2, 3, 2]]"#),
    ("upsample_trilinear3d_backward", r#"["T1x1x3x4x3", [3, 4, 3], [1, 1, 2, 3, 2], false]"#),
    ("where.ScalarOther", r#"["T2x3?", "T2x3", 0.5]"#),
    ("where.ScalarSelf", r#"["T2x3?", 0.5, "T2x3"]"#),
    ("zero", r#"["T2x3"]"#),
    ("zero_", r#"["T2x3"]"#),
    ("remainder.Scalar", r#"["T2x3", 0.75]"#),
    ("square", r#"["T2x3"]"#),
];

/// Returns the calls of the operators in [`CALL_TEMPLATES`]. Each has the number [`GENERATED_CALL_NUMBER`].
pub(crate) fn generate_calls() -> Result<Vec<Call>> {
    CALL_TEMPLATES.iter().map(|(operator, arguments)| generate_call(operator, arguments)).collect()
}

fn generate_call(operator: &str, arguments: &str) -> Result<Call> {
    let arguments: Vec<Json> = serde_json::from_str(arguments).map_err(|source| Error::Json { line: 1, source })?;
    let mut seed = 1;
    let arguments: Vec<Json> = arguments.iter().map(|argument| to_tagged_json(argument, &mut seed)).collect();
    let line = json!({"op": format!("aten::{operator}"), "args": arguments, "kwargs": {}, "out": {"none": true}});
    Ok(Call { number: GENERATED_CALL_NUMBER, ..Call::parse(&line.to_string())? })
}

/// The call number of each of these calls: recorded calls have smaller numbers.
const GENERATED_CALL_NUMBER: usize = 1000;

fn to_tagged_json(json: &Json, seed: &mut u64) -> Json {
    match json {
        Json::Null => json!({"none": true}),
        Json::Bool(_) => json!({"bool": json}),
        Json::Number(number) if number.is_f64() => json!({"float": json}),
        Json::Array(items) => {
            json!({"list": items.iter().map(|item| to_tagged_json(item, seed)).collect::<Vec<Json>>()})
        }
        Json::String(text) => {
            text.strip_prefix('T').map_or_else(|| json!({"str": text}), |text| generate_tensor_json(text, seed))
        }
        _ => json!({"int": json}),
    }
}

fn generate_tensor_json(text: &str, seed: &mut u64) -> Json {
    let (sizes, kind) = text.split_at(text.find(['+', 'u', 'i', '?']).unwrap_or(text.len()));
    let sizes: Vec<i64> = sizes.split('x').filter_map(|size| size.parse().ok()).collect();
    let count = sizes.iter().product::<i64>();
    let numbers = pseudorandom_numbers(seed, &sizes, false);
    let (dtype, data): (DType, Vec<Json>) = match kind.split_at(kind.len().min(1)) {
        ("+", _) => (DType::F64, numbers.iter().map(|x| json!(1.0 + x / 2.0)).collect()),
        ("u", _) => (DType::F64, numbers.iter().map(|x| json!(0.5 + 0.4 * x)).collect()),
        ("i", below) => {
            let below: i64 = below.parse().unwrap_or(1);
            // Every index occurs once before one occurs twice.
            (DType::I64, (0..count).map(|k| json!(k * 7 % below)).collect())
        }
        ("?", _) => (DType::Bool, (0..count).map(|k| json!(k % 2 == 0)).collect()),
        _ => (DType::F64, numbers.iter().map(|x| json!(2.0 * x)).collect()),
    };
    let strides = Geometry::contiguous(&sizes).strides().to_vec();
    json!({"tensor": {"dtype": dtype.to_string(), "shape": sizes, "strides": strides, "data": data}})
}
