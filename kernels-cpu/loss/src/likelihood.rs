//! Kernels of negative log-likelihood. Only one element of each row is needed, so they gather elements and do not read rows.

use aten::{NllLossPlan, Reduction};
use dispatch_runtime::{Arithmetic, BadArgument, Floating, Problem, Result, Tensor, op_impl};

use engine::allocation::to_usize;
use engine::contiguous::write_contiguous;
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::reduce::with_compute_type;
use engine::thread_pool::DisjointLines;

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 15;

/// Returns the true class of each row and its weight. Ignored rows have weight zero.
fn classes_and_weights(
    likelihood: &NllLossPlan,
    target: &Tensor,
    weight: Option<&Tensor>,
    ignored: i64,
) -> Result<Vec<(i64, f64)>> {
    let weights = weight.map(convert_to_vec::<f64>).transpose()?;
    let class_and_weight = |class: i64| {
        if class == ignored {
            return Ok((0, 0.0));
        }
        match usize::try_from(class) {
            Ok(at) if class < likelihood.classes => Ok((class, weights.as_ref().map_or(1.0, |weights| weights[at]))),
            _ => {
                Err(BadArgument::new("target", Problem::Index { index: class, size: likelihood.classes, dim: None })
                    .into())
            }
        }
    };
    convert_to_vec::<i64>(target)?.into_iter().map(class_and_weight).collect()
}

/// Returns the true classes as an index along the class dimension.
fn class_index_tensor(likelihood: &NllLossPlan, this: &Tensor, classes_and_weights: &[(i64, f64)]) -> Result<Tensor> {
    let mut sizes = this.sizes().to_vec();
    sizes[likelihood.dim] = 1;
    Ok(Tensor::from_vec(
        classes_and_weights.iter().map(|class_and_weight| class_and_weight.0).collect::<Vec<_>>(),
        &sizes,
    )?)
}

#[op_impl(aten::nll_loss_forward, CPU)]
#[op_impl(aten::nll_loss2d_forward, CPU)]
fn nll_loss_forward(plan: &NllLossPlan, [output, total_weight]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let classes_and_weights = classes_and_weights(plan, target, weight, ignore_index)?;
    let dim = i64::from(plan.dim == 1);
    let picked = if plan.classes == 0 {
        vec![0.0; classes_and_weights.len()]
    } else {
        convert_to_vec::<f64>(&aten::gather(this, dim, &class_index_tensor(plan, this, &classes_and_weights)?, false)?)?
    };
    let losses = picked
        .into_iter()
        .zip(&classes_and_weights)
        .map(|(x, &(_, weight))| if weight == 0.0 { 0.0 } else { -x * weight });
    let total: f64 = classes_and_weights.iter().map(|class_and_weight| class_and_weight.1).sum();
    let (losses, total) = match plan.reduction {
        Reduction::None => (losses.collect(), 0.0),
        Reduction::Sum => (vec![losses.sum()], total),
        Reduction::Mean => (vec![losses.sum::<f64>() / total], total),
    };
    write_f64_values(output, &losses)?;
    write_f64_values(total_weight, &[total])
}

#[op_impl(aten::nll_loss_backward, CPU)]
#[op_impl(aten::nll_loss2d_backward, CPU)]
fn nll_loss_backward(plan: &NllLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let classes_and_weights = classes_and_weights(plan, target, weight, ignore_index)?;
    let grads = convert_to_vec::<f64>(grad_output)?;
    let scale = match plan.reduction {
        Reduction::Mean => convert_to_vec::<f64>(total_weight)?.first().map_or(1.0, |total| total.recip()),
        _ => 1.0,
    };
    let at = |i: usize| grads.get(i).or_else(|| grads.first()).copied().unwrap_or(0.0);
    // The stride of the classes is the number of elements inside of the class dimension.
    let class_stride = dispatch_runtime::element_count(&this.sizes()[plan.dim + 1..]);
    let (class_stride, area) = (to_usize(class_stride), to_usize(class_stride * plan.classes));
    with_compute_type!(aten::nll_loss_backward, this.dtype(), T: [f32, f64] => {
        write_contiguous(out, |out: &mut [T]| {
            DisjointLines::new(out, area).for_each(GRAIN_SIZE.div_ceil(area.max(1)), |number, item| {
                item.fill(T::ZERO);
                for place in 0..class_stride {
                    let (class, weight) = classes_and_weights[number * class_stride + place];
                    if weight != 0.0 {
                        item[to_usize(class) * class_stride + place] = T::from_f64(-weight * at(number * class_stride + place) * scale);
                    }
                }
            });
            Ok(())
        })
    })
}
