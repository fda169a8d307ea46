//! Normalisation, and the gradient of its gradient.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

use super::missing;
use super::reduction::sum_of;
use crate::{Gradient, op_grad};

type Three = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

/// Of gradients that were computed together, those that were asked for.
fn wanted((first, second, third): (Tensor, Tensor, Tensor), mask: [bool; 3]) -> Three {
    (mask[0].then_some(first), mask[1].then_some(second), mask[2].then_some(third))
}

fn mask(needs: &[bool]) -> [bool; 3] {
    std::array::from_fn(|at| needs.get(at) == Some(&true))
}

#[op_grad(aten::native_layer_norm, not_differentiable(result1, result2))]
fn layer_norm(
    grad: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let all = aten::native_layer_norm_backward(grad, input, normalized_shape, result1, result2, weight, bias, &mask)?;
    Ok(wanted(all, mask))
}

#[op_grad(aten::native_batch_norm, not_differentiable(running_mean, running_var, result1, result2))]
fn batch_norm(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    training: bool,
    eps: f64,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let statistics = [running_mean, running_var, Some(result1), Some(result2)];
    let [mean, var, batch_mean, batch_invstd] = statistics;
    let all = aten::native_batch_norm_backward(
        grad,
        input,
        weight,
        mean,
        var,
        batch_mean,
        batch_invstd,
        training,
        eps,
        &mask,
    )?;
    Ok(wanted(all, mask))
}

#[op_grad(aten::_native_batch_norm_legit_no_stats, not_differentiable(result1, result2))]
fn batch_norm_without_statistics(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    training: bool,
    eps: f64,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let all = aten::native_batch_norm_backward(
        grad,
        input,
        weight,
        None,
        None,
        Some(result1),
        Some(result2),
        training,
        eps,
        &mask,
    )?;
    Ok(wanted(all, mask))
}

#[op_grad(aten::_native_batch_norm_legit, not_differentiable(running_mean, running_var, result1, result2))]
fn batch_norm_that_writes(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: &Tensor,
    running_var: &Tensor,
    training: bool,
    eps: f64,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let (mean, var) = (Some(running_mean), Some(running_var));
    let (batch_mean, batch_invstd) = (Some(result1), Some(result2));
    let all = aten::native_batch_norm_backward(
        grad,
        input,
        weight,
        mean,
        var,
        batch_mean,
        batch_invstd,
        training,
        eps,
        &mask,
    )?;
    Ok(wanted(all, mask))
}

#[op_grad(aten::_batch_norm_with_update, not_differentiable(running_mean, running_var, result1, result2, result3))]
fn batch_norm_with_update(
    grad: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    eps: f64,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let (mean, invstd) = (Some(result1), Some(result2));
    let all = aten::native_batch_norm_backward(grad, input, weight, None, None, mean, invstd, true, eps, &mask)?;
    Ok(wanted(all, mask))
}

/// The mean and the reciprocal deviation of each group have gradients of their own.
#[op_grad(aten::native_group_norm)]
fn group_norm(
    grad0: &Tensor,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    input: &Tensor,
    weight: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
    result1: &Tensor,
    result2: &Tensor,
    needs: &[bool],
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let mask = mask(needs);
    let all = aten::native_group_norm_backward(grad0, input, result1, result2, weight, N, C, HxW, group, &mask)?;
    let (mut of_input, of_weight, of_bias) = wanted(all, mask);
    if mask[0] && (grad1.is_some() || grad2.is_some()) {
        let groups = Groups { n: N, c: C, inner: HxW, group };
        let normal = groups.normalized(input, result1, result2)?;
        let of_mean = grad1.map(|grad| normal.of_mean(&groups.statistic(grad)?)).transpose()?;
        let of_invstd = grad2.map(|grad| normal.of_invstd(&groups.statistic(grad)?)).transpose()?;
        let statistics = sum_of(of_mean, of_invstd)?.map(|grad| grad.reshape(input.sizes())).transpose()?;
        of_input = sum_of(of_input, statistics)?;
    }
    Ok((of_input, of_weight, of_bias))
}

#[op_grad(aten::native_layer_norm_backward, not_differentiable(mean, rstd))]
fn layer_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    grad_out: &Tensor,
    input: &Tensor,
    normalized_shape: &[i64],
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
) -> Result<(impl Gradient, impl Gradient, impl Gradient, impl Gradient)> {
    let dims: Vec<i64> = (1..).take(normalized_shape.len()).map(|back: i64| -back).collect();
    let normal = Normalized::new(input, mean, rstd, &dims)?;
    let twice = normal.twice(grad_out, weight, [grad0.cloned(), grad1.cloned(), grad2.cloned()])?;
    Ok((twice.of_grad, twice.of_input, twice.of_weight, None::<Tensor>))
}

#[op_grad(aten::native_batch_norm_backward, not_differentiable(running_mean, running_var, save_mean, save_invstd))]
fn batch_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    grad_out: &Tensor,
    input: &Tensor,
    weight: Option<&Tensor>,
    running_mean: Option<&Tensor>,
    running_var: Option<&Tensor>,
    save_mean: Option<&Tensor>,
    save_invstd: Option<&Tensor>,
    train: bool,
    eps: f64,
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let rank = i64::try_from(input.sizes().len()).unwrap_or(i64::MAX);
    let but_channels: Vec<i64> = (0..rank).filter(|&dim| dim != 1).collect();
    let by_channel = |tensor: &Tensor| {
        let mut sizes = vec![1; input.sizes().len()];
        sizes[1] = -1;
        tensor.reshape(&sizes)
    };
    let invstd = if train { save_invstd.cloned() } else { running_var.map(|var| (var + eps)?.rsqrt()).transpose()? };
    let (Some(mean), Some(invstd)) = (if train { save_mean } else { running_mean }, invstd) else {
        return Err(missing::<aten::native_batch_norm_backward>());
    };
    let dims = if train { &but_channels[..] } else { &[] };
    let normal = Normalized::new(input, &by_channel(mean)?, &by_channel(&invstd)?, dims)?;
    let weight = weight.map(by_channel).transpose()?;
    let outer = [grad0.cloned(), grad1.map(by_channel).transpose()?, grad2.map(by_channel).transpose()?];
    let twice = normal.twice(grad_out, weight.as_ref(), outer)?;
    let of_weight = move || twice.of_weight.sum_dim_intlist(Some(&but_channels), false);
    Ok((twice.of_grad, twice.of_input, of_weight))
}

#[op_grad(aten::native_group_norm_backward, not_differentiable(mean, rstd))]
fn group_norm_backward(
    grad0: Option<&Tensor>,
    grad1: Option<&Tensor>,
    grad2: Option<&Tensor>,
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    N: i64,
    C: i64,
    HxW: i64,
    group: i64,
) -> Result<(impl Gradient, impl Gradient, impl Gradient)> {
    let groups = Groups { n: N, c: C, inner: HxW, group };
    let normal = groups.normalized(input, mean, rstd)?;
    let weight = weight.map(|weight| groups.channels(weight)).transpose()?;
    let channels = |grad: Option<&Tensor>| grad.map(|grad| groups.channels(grad)).transpose();
    let outer = [grad0.map(|grad| groups.elements(grad)).transpose()?, channels(grad1)?, channels(grad2)?];
    let twice = normal.twice(&groups.elements(grad_out)?, weight.as_ref(), outer)?;
    let of_weight = move || twice.of_weight.sum_dim_intlist(Some(&[0, 3]), false)?.reshape(&[C]);
    Ok((twice.of_grad.reshape(input.sizes())?, twice.of_input.reshape(input.sizes())?, of_weight))
}

/// The sizes of a group normalisation.
#[derive(Clone, Copy)]
struct Groups {
    n: i64,
    c: i64,
    inner: i64,
    group: i64,
}

impl Groups {
    /// Elements by picture, group, channel of the group, and place.
    fn elements(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape(&[self.n, self.group, self.c / self.group, self.inner])
    }

    fn statistic(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape(&[self.n, self.group, 1, 1])
    }

    fn channels(self, tensor: &Tensor) -> Result<Tensor> {
        tensor.reshape(&[1, self.group, self.c / self.group, 1])
    }

    fn normalized(self, input: &Tensor, mean: &Tensor, invstd: &Tensor) -> Result<Normalized> {
        Normalized::new(&self.elements(input)?, &self.statistic(mean)?, &self.statistic(invstd)?, &[2, 3])
    }
}

/// Elements less their mean, over their deviation, in sizes where statistics and weights stretch.
struct Normalized {
    elements: Tensor,
    invstd: Tensor,
    /// The dimensions that statistics are over. Where there are none, statistics were given, and do not follow the elements.
    dims: Vec<i64>,
}

/// What a gradient of the gradients of input, weight and bias means for what these were computed of.
struct Twice {
    of_grad: Tensor,
    of_input: Tensor,
    /// For each element; the weight's is the sum of those that it met.
    of_weight: Tensor,
}

impl Normalized {
    fn new(input: &Tensor, mean: &Tensor, invstd: &Tensor, dims: &[i64]) -> Result<Self> {
        Ok(Self { elements: ((input - mean)? * invstd)?, invstd: invstd.clone(), dims: dims.to_vec() })
    }

    fn mean(&self, of: &Tensor) -> Result<Tensor> {
        of.mean_dim(Some(&self.dims), true)
    }

    fn count(&self) -> i64 {
        self.dims.iter().filter_map(|&dim| self.elements.sizes().get(usize::try_from(dim).ok()?)).product()
    }

    /// The gradient of the input, given that of the normalised elements. It is its own transpose.
    fn back(&self, grad: &Tensor) -> Result<Tensor> {
        if self.dims.is_empty() {
            return grad * &self.invstd;
        }
        let along = (&self.elements * self.mean(&(grad * &self.elements)?)?)?;
        ((grad - self.mean(grad)?)? - along)? * &self.invstd
    }

    fn of_mean(&self, grad: &Tensor) -> Result<Tensor> {
        (grad / self.count())?.expand(self.elements.sizes())
    }

    fn of_invstd(&self, grad: &Tensor) -> Result<Tensor> {
        ((grad * self.invstd.square()?)? * (&self.elements / self.count())?)?.neg()
    }

    /// For a gradient `grad` of the elements, by `weight`, and gradients of what that gave: of the input, the weight and the bias.
    fn twice(
        &self,
        grad: &Tensor,
        weight: Option<&Tensor>,
        [of_input, of_weight, of_bias]: [Option<Tensor>; 3],
    ) -> Result<Twice> {
        let zeros = || self.elements.zeros_like();
        let by_weight = |tensor: Tensor| weight.map_or_else(|| Ok(tensor.clone()), |weight| &tensor * weight);
        let (mut result_grad, mut result_input, mut result_weight) = (zeros()?, zeros()?, zeros()?);
        if let Some(outer) = &of_input {
            let (inner, back) = (by_weight(grad.clone())?, self.back(outer)?);
            result_grad = (result_grad + by_weight(back.clone())?)?;
            result_weight = (result_weight + (grad * &back)?)?;
            if !self.dims.is_empty() {
                let (a, b) = (self.mean(&(outer * &self.elements)?)?, self.mean(&(&inner * &self.elements)?)?);
                let product =
                    ((self.mean(&(outer * &inner)?)? - (self.mean(outer)? * self.mean(&inner)?)?)? - (&a * &b)?)?;
                let of_scale = ((&self.elements * product)? * self.invstd.square()?)?;
                let of_elements = (((b * &back)? + (a * self.back(&inner)?)?)? * &self.invstd)?;
                result_input = (result_input - (of_scale + of_elements)?)?;
            }
        }
        if let Some(outer) = &of_weight {
            result_grad = (result_grad + (outer * &self.elements)?)?;
            result_input = (result_input + self.back(&(grad * outer)?)?)?;
        }
        if let Some(outer) = &of_bias {
            result_grad = (result_grad + outer)?;
        }
        Ok(Twice { of_grad: result_grad, of_input: result_input, of_weight: result_weight })
    }
}
