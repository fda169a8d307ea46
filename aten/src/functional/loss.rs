//! Loss functions.

use std::f64::consts::TAU;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Expected, guard};

use crate::Reduction;
use crate::prelude::*;

/// Computes the negative log-likelihood of the target for a normal distribution with the mean `input` and the variance `var`.
///
/// The variance is at least `eps`. It has the sizes of the input, or a last dimension of size 1, or no last dimension. `full` adds
/// the constant term.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let (input, target) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0, 0.0]));
/// let loss = aten::functional::gaussian_nll_loss(&input, &target, &input.ones_like()?, false, 1e-6, aten::Reduction::Sum)?;
/// assert_eq!(loss.item::<f64>()?, 2.0);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the sizes do not fit together, or if a variance is negative.
pub fn gaussian_nll_loss(
    input: &Tensor,
    target: &Tensor,
    var: &Tensor,
    full: bool,
    eps: f64,
    reduction: Reduction,
) -> Result<Tensor> {
    let (own, sizes) = (var.sizes(), input.sizes());
    let shared = || {
        own.len() == sizes.len() && own.iter().zip(sizes).filter(|(own, size)| own != size).all(|(own, _)| *own == 1)
    };
    let mut var = match sizes.split_last() {
        _ if own == sizes => crate::clone(var, None)?,
        Some((_, outer)) if own == outer => crate::clone(&var.unsqueeze(-1)?, None)?,
        _ if shared() => crate::clone(var, None)?,
        _ => {
            return Err(BadArgument::sizes(
                "var",
                own,
                format!("{sizes:?}, or these sizes with 1 for the last dimension or without it"),
            )
            .into());
        }
    };
    if var.device() != Device::META && var.lt(0)?.any()?.item()? {
        return Err(BadArgument::value("var", "a variance below zero", "zero or more").into());
    }
    {
        // No gradient of the clamp: a variance below the bound gets the gradient at the bound.
        let _no_grad = guard::no_grad();
        crate::clamp_min_(&mut var, eps.into())?;
    }
    let difference = (input - target)?;
    let loss = ((var.log()? + ((&difference * &difference)? / &var)?)? * 0.5)?;
    reduction.apply(if full { (loss + 0.5 * TAU.ln())? } else { loss })
}

/// Computes the mean binary cross entropy over the classes in the last dimension, reduced. `target` is 1 for the classes of a sample, and 0
/// for others. `weight` has a factor for each class.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let (logits, target) = (Tensor::from([[0.0, 0.0]]), Tensor::from([[1.0, 0.0]]));
/// let loss = aten::functional::multilabel_soft_margin_loss(&logits, &target, None, aten::Reduction::Mean)?;
/// assert!((loss.item::<f64>()? - 2_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the sizes do not broadcast, or if the input has no dimensions.
pub fn multilabel_soft_margin_loss(
    input: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    if input.sizes().is_empty() {
        return Err(BadArgument::rank("input", 0, 1..).because("the last dimension has the classes").into());
    }
    let present = (target * input.log_sigmoid()?)?;
    let absent = ((1 - target)? * (-input)?.log_sigmoid()?)?;
    let mut losses = (-(present + absent)?)?;
    if let Some(weight) = weight {
        losses = (losses * weight)?;
    }
    reduction.apply(losses.mean_dims(-1)?)
}

/// Computes `max(0, distance(anchor, positive) - distance(anchor, negative) + margin)`, reduced.
///
/// With `swap`, it subtracts the smaller of the negative's distances to anchor and positive.
///
/// ```
/// # use kernels_cpu as _;
/// # use aten::prelude::*;
/// # use dispatch_runtime::prelude::*;
/// let [a, p, n] = [0.0, 1.0, 1.5].map(|x| Tensor::from([x]));
/// let gap = |x: &Tensor, y: &Tensor| (x - y)?.abs();
/// let loss = aten::functional::triplet_margin_with_distance_loss(&a, &p, &n, gap, 1.0, false, aten::Reduction::Mean)?;
/// assert_eq!(loss.item::<f64>()?, 0.5);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the tensors have different ranks, or if the margin is not positive.
pub fn triplet_margin_with_distance_loss(
    anchor: &Tensor,
    positive: &Tensor,
    negative: &Tensor,
    distance: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
    margin: f64,
    swap: bool,
    reduction: Reduction,
) -> Result<Tensor> {
    if margin <= 0.0 {
        return Err(BadArgument::number("margin", margin, Expected::Above(0.0.into())).into());
    }
    for (name, other) in [("positive", positive), ("negative", negative)] {
        if other.sizes().len() != anchor.sizes().len() {
            return Err(BadArgument::rank(name, other.sizes().len(), anchor.sizes().len()).like("anchor").into());
        }
    }
    let (positive_distance, mut negative_distance) = (distance(anchor, positive)?, distance(anchor, negative)?);
    if swap {
        negative_distance = negative_distance.minimum(&distance(positive, negative)?)?;
    }
    reduction.apply(((positive_distance - negative_distance)? + margin)?.clamp_min(0)?)
}
