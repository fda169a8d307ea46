//! RMS normalisation: division by the root of the mean square.

use dispatch_runtime::MemoryFormat;
use dispatch_runtime::prelude::*;

use super::layer::check_layer_norm;
use crate::{add_scalar, contiguous, mean_dim, mul, rsqrt, sub, sum_dim_intlist, to_dtype};

/// Divides by the root of the mean square over the last dimensions.
#[op_def(
    "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    check = super::check_normalized_shape(input, normalized_shape, [("weight", weight)])
)]
pub fn rms_norm(input: &Tensor, normalized_shape: &[i64], weight: Option<&Tensor>, eps: Option<f64>) -> Result<Tensor> {
    Ok(_fused_rms_norm(input, normalized_shape, weight, eps)?.0)
}

/// Computes [`rms_norm`]. Also returns the reciprocal of the root of the mean square.
#[op_def("_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)")]
pub fn _fused_rms_norm(_: ...) -> Result<(Tensor, Tensor)> {
    check_layer_norm(input, normalized_shape, weight, None)?;
    let wide = to_float32_or_float64(&contiguous(input, MemoryFormat::Contiguous)?)?;
    let default_eps = if wide.dtype() == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
    let square = mean_dim(&mul(&wide, &wide)?, Some(&normalized_dims(normalized_shape)), true, None)?;
    let rstd = rsqrt(&add_scalar(&square, eps.unwrap_or(default_eps).into(), 1.into())?)?;
    let mut result = mul(&wide, &rstd)?;
    if let Some(weight) = weight {
        result = mul(&result, weight)?;
    }
    Ok((to_dtype(&result, input.dtype(), false, false, None)?, rstd))
}

/// Computes the gradients of [`_fused_rms_norm`]. A gradient that `output_mask` does not request has no elements.
#[op_def(
    "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)"
)]
pub fn _fused_rms_norm_backward(_: ...) -> Result<(Tensor, Tensor)> {
    check_layer_norm(input, normalized_shape, weight, None)?;
    let (grad, dims) = (to_float32_or_float64(grad_out)?, normalized_dims(normalized_shape));
    let none = || crate::new_empty(input, &[0], None, None, None, None);
    let elements = mul(&to_float32_or_float64(input)?, rstd)?;
    let [wants_input, wants_weight] = crate::output_mask_pair(output_mask)?;
    let of_input = if wants_input {
        let grad = weight.map_or_else(|| Ok(grad.clone()), |weight| mul(&grad, weight))?;
        let mean_product = mean_dim(&mul(&grad, &elements)?, Some(&dims), true, None)?;
        let input_grad = mul(&sub(&grad, &mul(&elements, &mean_product)?, 1.into())?, rstd)?;
        to_dtype(&input_grad, input.dtype(), false, false, None)?
    } else {
        none()?
    };
    let of_weight = match weight {
        Some(weight) if wants_weight => {
            let lines: Vec<i64> = (0..i64::try_from(input.sizes().len() - dims.len()).unwrap_or(0)).collect();
            let each = mul(&grad, &elements)?;
            let all = if lines.is_empty() { each } else { sum_dim_intlist(&each, Some(&lines), false, None)? };
            to_dtype(&all, weight.dtype(), false, false, None)?
        }
        _ => none()?,
    };
    Ok((of_input, of_weight))
}

/// Converts the tensor to float32, unless it is float64.
fn to_float32_or_float64(tensor: &Tensor) -> Result<Tensor> {
    let dtype = if tensor.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    to_dtype(tensor, dtype, false, false, None)
}

/// Returns the normalised dimensions, counted from the end.
fn normalized_dims(normalized_shape: &[i64]) -> Vec<i64> {
    (1..=normalized_shape.len()).map(|dim| -i64::try_from(dim).unwrap_or(0)).collect()
}
