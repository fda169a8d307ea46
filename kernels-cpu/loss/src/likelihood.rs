//! Kernels of negative log-likelihood. Only one element of each row is needed, so they gather elements and do not read rows.

use aten::{NllLossPlan, Reduction};
use dispatch_runtime::{Arithmetic, BadArgument, Problem, Result, Tensor, op_impl};

use engine::allocation::usized;
use engine::compute::Precision;
use engine::contiguous::fill;
use engine::contiguous::{elements, write};
use engine::reduce::computed;
use engine::thread_pool::Lines;

/// The minimum number of elements for each thread.
const GRAIN: usize = 1 << 15;

/// Returns the true class of each row and its weight. Ignored rows have weight zero.
fn picks(likelihood: &NllLossPlan, target: &Tensor, weight: Option<&Tensor>, ignored: i64) -> Result<Vec<(i64, f64)>> {
    let weights = weight.map(elements::<f64>).transpose()?;
    let pick = |class: i64| {
        if class == ignored {
            return Ok((0, 0.0));
        }
        match usize::try_from(class) {
            Ok(at) if class < likelihood.classes => Ok((class, weights.as_ref().map_or(1.0, |weights| weights[at]))),
            _ => Err(BadArgument::new("target", Problem::Index { index: class, size: likelihood.classes }).into()),
        }
    };
    elements::<i64>(target)?.into_iter().map(pick).collect()
}

/// Returns the true classes as an index along the class dimension.
fn index(likelihood: &NllLossPlan, this: &Tensor, picks: &[(i64, f64)]) -> Result<Tensor> {
    let mut sizes = this.sizes().to_vec();
    sizes[likelihood.dim] = 1;
    Ok(Tensor::from_vec(picks.iter().map(|pick| pick.0).collect::<Vec<_>>(), &sizes)?)
}

#[op_impl(aten::nll_loss_forward, CPU)]
#[op_impl(aten::nll_loss2d_forward, CPU)]
fn forward(plan: &NllLossPlan, [output, total_weight]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let picks = picks(plan, target, weight, ignore_index)?;
    let dim = i64::from(plan.dim == 1);
    let picked = if plan.classes == 0 {
        vec![0.0; picks.len()]
    } else {
        elements::<f64>(&aten::gather(this, dim, &index(plan, this, &picks)?, false)?)?
    };
    let losses = picked.into_iter().zip(&picks).map(|(x, &(_, weight))| if weight == 0.0 { 0.0 } else { -x * weight });
    let total: f64 = picks.iter().map(|pick| pick.1).sum();
    let (losses, total) = match plan.reduction {
        Reduction::None => (losses.collect(), 0.0),
        Reduction::Sum => (vec![losses.sum()], total),
        Reduction::Mean => (vec![losses.sum::<f64>() / total], total),
    };
    write(output, &losses)?;
    write(total_weight, &[total])
}

#[op_impl(aten::nll_loss_backward, CPU)]
#[op_impl(aten::nll_loss2d_backward, CPU)]
fn backward(plan: &NllLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let picks = picks(plan, target, weight, ignore_index)?;
    let grads = elements::<f64>(grad_output)?;
    let scale = match plan.reduction {
        Reduction::Mean => elements::<f64>(total_weight)?.first().map_or(1.0, |total| total.recip()),
        _ => 1.0,
    };
    let at = |i: usize| grads.get(i).or_else(|| grads.first()).copied().unwrap_or(0.0);
    // The stride of the classes is the number of elements inside of the class dimension.
    let apart = dispatch_runtime::element_count(&this.sizes()[plan.dim + 1..]);
    let (apart, area) = (usized(apart), usized(apart * plan.classes));
    computed!(aten::nll_loss_backward, this.dtype(), T: [f32, f64] => {
        fill(out, |out: &mut [T]| {
            Lines::new(out, area).each(GRAIN.div_ceil(area.max(1)), |number, item| {
                item.fill(T::ZERO);
                for place in 0..apart {
                    let (class, weight) = picks[number * apart + place];
                    if weight != 0.0 {
                        item[usized(class) * apart + place] = T::near(-weight * at(number * apart + place) * scale);
                    }
                }
            });
            Ok(())
        })
    })
}
