//! Kernels of margin losses: each row separately, in double precision.

use aten::{MarginLossPlan, Reduction};
use dispatch_runtime::{BadArgument, Problem, Result, Scalar, Tensor, op_impl};

use engine::contiguous::{contiguous_elements, write_contiguous};
use engine::contiguous::{convert_to_vec, write_f64_values};
use engine::thread_pool::DisjointLines;

/// The minimum number of elements for each thread.
const GRAIN_SIZE: usize = 1 << 13;

/// Computes the losses of all rows and reduces them. `loss` returns the loss of a row, not yet divided by the number of classes.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn write_margin_loss(
    margins: &MarginLossPlan,
    out: &mut Tensor,
    this: &Tensor,
    loss: impl Fn(usize, &[f64]) -> f64 + Sync,
) -> Result<()> {
    let rows = contiguous_elements::<f64>(this)?;
    let mut losses = vec![0.0; margins.rows];
    DisjointLines::new(&mut losses, 1).for_each(GRAIN_SIZE.div_ceil(margins.classes), |line, to| {
        to.fill(loss(line, &rows[line * margins.classes..][..margins.classes]) / margins.classes as f64);
    });
    write_contiguous(out, |out: &mut [f64]| {
        match margins.reduction {
            Reduction::None => out.copy_from_slice(&losses),
            Reduction::Sum => out.fill(losses.iter().sum()),
            Reduction::Mean => out.fill(losses.iter().sum::<f64>() / margins.rows.max(1) as f64),
        }
        Ok(())
    })
}

/// Computes the gradient of every row. `add_derivatives` adds the derivatives of a row's loss to zeros, not yet multiplied with the loss's
/// gradient.
#[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
fn write_margin_gradient(
    margins: &MarginLossPlan,
    out: &mut Tensor,
    grad_output: &Tensor,
    this: &Tensor,
    add_derivatives: impl Fn(usize, &[f64], &mut [f64]) + Sync,
) -> Result<()> {
    let (rows, grads) = (contiguous_elements::<f64>(this)?, convert_to_vec::<f64>(grad_output)?);
    let divisor = if margins.reduction == Reduction::Mean { margins.rows.max(1) } else { 1 };
    let scale = ((divisor * margins.classes) as f64).recip();
    write_contiguous(out, |out: &mut [f64]| {
        DisjointLines::new(out, margins.classes).for_each(GRAIN_SIZE.div_ceil(margins.classes), |line, out| {
            out.fill(0.0);
            add_derivatives(line, &rows[line * margins.classes..][..margins.classes], out);
            let grad = grads.get(line).or_else(|| grads.first()).copied().unwrap_or(0.0) * scale;
            out.iter_mut().for_each(|out| *out *= grad);
        });
        Ok(())
    })
}

/// The arguments of a loss with one true class in each row.
struct SingleLabelTargets {
    classes: Vec<usize>,
    weights: Option<Vec<f64>>,
    margin: f64,
    squared: bool,
}

impl SingleLabelTargets {
    fn new(
        target: &Tensor,
        p: Scalar,
        margin: Scalar,
        weight: Option<&Tensor>,
        margins: &MarginLossPlan,
    ) -> Result<Self> {
        let classes = convert_to_vec::<i64>(target)?.into_iter().map(|class| checked_class(class, margins));
        Ok(Self {
            classes: classes.collect::<Result<_>>()?,
            weights: weight.map(convert_to_vec::<f64>).transpose()?,
            margin: margin.to_f64().unwrap_or(f64::NAN),
            squared: p.to_f64() == Some(2.0),
        })
    }

    /// Returns the index and `margin - self[true] + self[class]` of each other class where that is positive.
    fn violating_classes<'a>(&'a self, line: usize, row: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
        let class = self.classes[line];
        let excess = row.iter().enumerate().map(move |(at, x)| (at, self.margin - row[class] + x));
        excess.filter(move |&(at, excess)| at != class && excess > 0.0)
    }

    fn row_weight(&self, line: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[self.classes[line]])
    }
}

fn checked_class(class: i64, margins: &MarginLossPlan) -> Result<usize> {
    match usize::try_from(class) {
        Ok(at) if at < margins.classes => Ok(at),
        _ => {
            let size = i64::try_from(margins.classes).unwrap_or(i64::MAX);
            Err(BadArgument::new("target", Problem::Index { index: class, size, dim: None }).into())
        }
    }
}

#[op_impl(aten::multi_margin_loss, CPU)]
fn multi_margin_loss(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let labels = SingleLabelTargets::new(target, p, margin, weight, plan)?;
    write_margin_loss(plan, out, this, |line, row| {
        let losses = labels
            .violating_classes(line, row)
            .map(|(_, excess)| if labels.squared { excess * excess } else { excess });
        losses.sum::<f64>() * labels.row_weight(line)
    })
}

#[op_impl(aten::multi_margin_loss_backward, CPU)]
fn multi_margin_loss_backward(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let labels = SingleLabelTargets::new(target, p, margin, weight, plan)?;
    write_margin_gradient(plan, out, grad_output, this, |line, row, out| {
        for (at, excess) in labels.violating_classes(line, row) {
            let derivative = labels.row_weight(line) * if labels.squared { 2.0 * excess } else { 1.0 };
            out[at] += derivative;
            out[labels.classes[line]] -= derivative;
        }
    })
}

/// Returns the true classes of each row: the targets before the first -1.
fn read_label_lists(target: &Tensor, margins: &MarginLossPlan) -> Result<Vec<Vec<usize>>> {
    let classes = convert_to_vec::<i64>(target)?;
    let line = |line: &[i64]| {
        let ends = line.iter().position(|&class| class == -1).unwrap_or(line.len());
        line[..ends].iter().map(|&class| checked_class(class, margins)).collect()
    };
    classes.chunks(margins.classes).map(line).collect()
}

#[op_impl(aten::multilabel_margin_loss_forward, CPU)]
fn multilabel_margin_loss_forward(plan: &MarginLossPlan, [output, is_target]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let label_lists = read_label_lists(target, plan)?;
    let mut marks = vec![0.0; plan.rows * plan.classes];
    for (line, classes) in label_lists.iter().enumerate() {
        classes.iter().for_each(|class| marks[line * plan.classes + class] = 1.0);
    }
    write_margin_loss(plan, output, this, |line, row| {
        let others = || row.iter().zip(&marks[line * plan.classes..]).filter(|other| *other.1 == 0.0);
        let of_class = |&class: &usize| others().map(|(x, _)| (1.0 - row[class] + x).max(0.0)).sum::<f64>();
        label_lists[line].iter().map(of_class).sum()
    })?;
    write_f64_values(is_target, &marks)
}

#[op_impl(aten::multilabel_margin_loss_backward, CPU)]
fn multilabel_margin_loss_backward(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let (label_lists, is_target) = (read_label_lists(target, plan)?, contiguous_elements::<f64>(is_target)?);
    write_margin_gradient(plan, out, grad_output, this, |line, row, out| {
        for &class in &label_lists[line] {
            for (at, x) in row.iter().enumerate() {
                if is_target[line * plan.classes + at] == 0.0 && 1.0 - row[class] + x > 0.0 {
                    out[at] += 1.0;
                    out[class] -= 1.0;
                }
            }
        }
    })
}
