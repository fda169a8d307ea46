//! Contrastive losses: cosine embedding, hinge embedding, margin ranking and triplet margin.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected};

use super::reduce_losses;
use crate::{
    add, add_scalar, clamp_min, div, eq_scalar, minimum, mul, ne_scalar, neg, pairwise_distance, rsub_scalar, sqrt,
    sub, sum_dim_intlist, where_scalarother,
};

const SCALAR_ONE: Scalar = Scalar::Int(1);
const SCALAR_ZERO: Scalar = Scalar::Int(0);

/// Computes `1 - cos(input1, input2)` if the target is 1, and `max(0, cos(input1, input2) - margin)` if it is -1.
#[op_def(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
    check = check_input_and_target_sizes(input1, input2, target)
)]
pub fn cosine_embedding_loss(_: ...) -> Result<Tensor> {
    const EPSILON: Scalar = Scalar::Float(1e-12);
    let rank = target.sizes().len();
    if rank > 1 {
        return Err(BadArgument::rank("target", rank, &[0, 1]).into());
    }
    for (name, input) in [("input1", input1), ("input2", input2)] {
        if input.sizes().len() != rank + 1 {
            return Err(BadArgument::rank(name, input.sizes().len(), rank + 1)
                .because("it has one dimension more than `target`")
                .into());
        }
    }
    let product = |a: &Tensor, b: &Tensor| sum_dim_intlist(&mul(a, b)?, Some(&[-1]), false, None);
    let square = |a: &Tensor| add_scalar(&product(a, a)?, EPSILON, SCALAR_ONE);
    let cosine = div(&product(input1, input2)?, &sqrt(&mul(&square(input1)?, &square(input2)?)?)?)?;
    let close = where_scalarother(
        &eq_scalar(target, SCALAR_ONE)?,
        &rsub_scalar(&cosine, SCALAR_ONE, SCALAR_ONE)?,
        SCALAR_ZERO,
    )?;
    let above = clamp_min(&add_scalar(&cosine, (-margin).into(), SCALAR_ONE)?, SCALAR_ZERO)?;
    let apart = where_scalarother(&eq_scalar(target, Scalar::Int(-1))?, &above, SCALAR_ZERO)?;
    reduce_losses(add(&close, &apart, SCALAR_ONE)?, reduction)
}

/// Checks that the inputs broadcast with each other, and that the number of targets broadcasts with the number of vectors.
fn check_input_and_target_sizes(input1: &Tensor, input2: &Tensor, target: &Tensor) -> Result<(), BadArgument> {
    crate::check_broadcast([("input1", input1), ("input2", input2)])?;
    let many = [input1, input2].map(|input| input.sizes().first().copied().unwrap_or(1)).into_iter().find(|&n| n != 1);
    match (target.sizes(), many) {
        (&[count], Some(many)) if count != many && count != 1 => {
            let expected = format!("[{many}], as `input1` has sizes {:?}", input1.sizes());
            Err(BadArgument::sizes("target", target.sizes(), expected))
        }
        _ => Ok(()),
    }
}

/// Computes `self` if the target is 1, and `max(0, margin - self)` if it is -1.
#[op_def(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
    check = crate::check_broadcast([("self", this), ("target", target)])
)]
pub fn hinge_embedding_loss(this: &Tensor, target: &Tensor, margin: f64, reduction: i64) -> Result<Tensor> {
    let below = clamp_min(&rsub_scalar(this, margin.into(), SCALAR_ONE)?, SCALAR_ZERO)?;
    let apart = where_scalarother(&ne_scalar(target, SCALAR_ONE)?, &below, SCALAR_ZERO)?;
    let close = where_scalarother(&ne_scalar(target, Scalar::Int(-1))?, this, SCALAR_ZERO)?;
    reduce_losses(add(&apart, &close, SCALAR_ONE)?, reduction)
}

/// Computes `max(0, -target * (input1 - input2) + margin)`.
#[op_def(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
    check = crate::check_broadcast([("input1", input1), ("input2", input2), ("target", target)])
)]
pub fn margin_ranking_loss(_: ...) -> Result<Tensor> {
    let behind = mul(&neg(target)?, &sub(input1, input2, SCALAR_ONE)?)?;
    reduce_losses(clamp_min(&add_scalar(&behind, margin.into(), SCALAR_ONE)?, SCALAR_ZERO)?, reduction)
}

/// Computes `max(0, |anchor - positive| - |anchor - negative| + margin)`.
///
/// With `swap`, it subtracts the smaller of `|anchor - negative|` and `|positive - negative|`.
#[op_def(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
    check = crate::check_broadcast([("anchor", anchor), ("positive", positive), ("negative", negative)])
)]
pub fn triplet_margin_loss(_: ...) -> Result<Tensor> {
    let rank = anchor.sizes().len();
    for (name, tensor) in [("positive", positive), ("negative", negative)] {
        if tensor.sizes().len() != rank {
            return Err(BadArgument::rank(name, tensor.sizes().len(), rank).like("anchor").into());
        }
    }
    if margin <= 0.0 {
        return Err(BadArgument::number("margin", margin, Expected::Above(0.0.into())).into());
    }
    let positive_distance = pairwise_distance(anchor, positive, p, eps, false)?;
    let mut negative_distance = pairwise_distance(anchor, negative, p, eps, false)?;
    if swap {
        negative_distance = minimum(&negative_distance, &pairwise_distance(positive, negative, p, eps, false)?)?;
    }
    let apart = add_scalar(&sub(&positive_distance, &negative_distance, SCALAR_ONE)?, margin.into(), SCALAR_ONE)?;
    reduce_losses(clamp_min(&apart, SCALAR_ZERO)?, reduction)
}
