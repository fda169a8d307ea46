//! Plans of products whose shape word is a contraction, such as `"mk,kn->mn"`.

use super::Plan;
use crate::error::{BadArgument, ErrorKind, Result};
use crate::operator::Operator;
use crate::scalar::DType;
use crate::spec::{ShapeWord, Spec, check_not_float8};
use crate::tensor::{Dims, Tensor};

/// Returns the plan of a product of these tensors, which are the operator's first arguments.
pub fn product_plan(operator: &Operator, tensors: &[&Tensor]) -> Result<Plan<()>> {
    let Some(ShapeWord::Product { letters }) = operator.shape_word() else {
        return Err(ErrorKind::NoShapeInference { operator: operator.name() }.into());
    };
    let name = |at: usize| operator.argument_name(at);
    let (inputs, output) = letters.split_once("->").unwrap_or((letters, ""));
    // For each letter: its size, and the tensor and the dimension that have it first.
    let mut known: Vec<(char, i64, usize, usize)> = Vec::new();
    let mut dtype = None;
    for (i, (word, tensor)) in inputs.split(',').zip(tensors).enumerate() {
        if tensor.sizes().len() != word.len() {
            return Err(BadArgument::rank(name(i), tensor.sizes().len(), word.len()).into());
        }
        check_not_float8(name(i), Some(tensor.dtype()))?;
        let expected = *dtype.get_or_insert_with(|| tensor.dtype());
        if tensor.dtype() != expected {
            return Err(BadArgument::dtype(name(i), tensor.dtype(), expected).like(name(0)).into());
        }
        for (dim, (letter, &size)) in word.chars().zip(tensor.sizes()).enumerate() {
            match known.iter().find(|known| known.0 == letter) {
                Some(&(_, expected, of, met)) if expected != size => {
                    let bad = BadArgument::size(name(i), tensor.sizes(), dim, expected);
                    return Err(bad.like_dim(name(of), met).into());
                }
                Some(_) => {}
                None => known.push((letter, size, i, dim)),
            }
        }
    }
    let size = |letter| known.iter().find(|known| known.0 == letter).map_or(1, |known| known.1);
    let sizes: Dims = output.chars().map(size).collect();
    Ok(Plan::new((), [Spec::contiguous(dtype.unwrap_or(DType::F32), &sizes)]))
}
