//! CUDA kernels of `multi_margin_loss` and `multilabel_margin_loss`: one block for each line.

use aten::{MarginLossPlan, Reduction};

use super::nll::CLASS_LOSSES_KERNEL;
use super::reduce_losses;
use crate::engine::reduce::reduction_dtype;
use crate::prelude::*;

define_parameters! {
    /// The kernels' `struct MarginLossParameters`: the sizes and parameters of a margin loss.
    struct MarginLossParameters {
        lines: i64,
        classes: i64,
        margin: f64,
        squared: i32,
        multi_label: i32,
        site: FaultSite,
        fault: DevicePointer,
    }
}

/// The contiguous inputs of a margin loss.
struct MarginInputs {
    launch: Launch,
    this: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    parameter: MarginLossParameters,
}

impl MarginInputs {
    fn new(
        name: &'static str,
        [this, target]: [&Tensor; 2],
        weight: Option<&Tensor>,
        [p, margin]: [f64; 2],
        multi_label: bool,
        margins: &MarginLossPlan,
    ) -> Result<Self> {
        let launch = Launch::on_device_of(this)?;
        let parameter = MarginLossParameters {
            lines: i64::try_from(margins.rows).unwrap_or(i64::MAX),
            classes: i64::try_from(margins.classes).unwrap_or(i64::MAX),
            margin,
            squared: i32::from(p.to_bits() == 2.0_f64.to_bits()),
            multi_label: multi_label.into(),
            site: FaultSite::for_argument(name, "target"),
            fault: launch.fault_record(),
        };
        let weight = weight.map(|weight| contiguous(weight, this.dtype())).transpose()?;
        Ok(Self {
            launch,
            this: contiguous(this, this.dtype())?,
            target: contiguous(target, DType::I64)?,
            weight,
            parameter,
        })
    }

    fn grid(&self) -> Grid {
        Grid::from_block_count(self.parameter.lines.unsigned_abs(), 256)
    }

    /// Computes the losses of lines and reduces them. Writes `is_target` if it is given.
    fn compute_loss(&self, margins: &MarginLossPlan, out: &mut Tensor, is_target: Option<&Tensor>) -> Result<()> {
        let dtype = reduction_dtype(self.this.dtype()).unwrap_or(DType::F32);
        let losses = Spec::contiguous(dtype, &[self.parameter.lines]).on(self.this.device())?;
        let arguments = (&self.this, &self.target, self.weight.as_ref(), &losses, is_target, self.parameter);
        self.launch.run(&CLASS_LOSSES_KERNEL, "margin_loss", &[self.this.dtype()], self.grid(), arguments)?;
        // The mean of no losses is zero, not NaN.
        match if margins.rows == 0 { Reduction::Sum } else { margins.reduction } {
            Reduction::None => copy_into(out, &aten::view(&losses, out.sizes())?),
            reduction => reduce_losses(out, &losses, reduction),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    fn compute_gradient(&self, margins: &MarginLossPlan, out: &mut Tensor, grad_output: &Tensor) -> Result<()> {
        let shared = if margins.reduction == Reduction::Mean { margins.rows.max(1) } else { 1 };
        let scale = ((shared * margins.classes) as f64).recip();
        let grad = contiguous(grad_output, self.this.dtype())?;
        let one = i32::from(grad.geometry().count() == 1);
        let arguments = (&self.this, &self.target, self.weight.as_ref(), &grad, out, self.parameter, scale, one);
        Ok(self.launch.run(
            &CLASS_LOSSES_KERNEL,
            "margin_loss_backward",
            &[self.this.dtype()],
            self.grid(),
            arguments,
        )?)
    }
}

fn scalar_to_f64(scalar: Scalar) -> f64 {
    scalar.to_f64().unwrap_or(f64::NAN)
}

#[op_impl(aten::multi_margin_loss, CUDA)]
fn multi_margin_loss(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let numbers = [scalar_to_f64(p), scalar_to_f64(margin)];
    MarginInputs::new("aten::multi_margin_loss", [this, target], weight, numbers, false, plan)?
        .compute_loss(plan, out, None)
}

#[op_impl(aten::multi_margin_loss_backward, CUDA)]
fn multi_margin_loss_backward(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let numbers = [scalar_to_f64(p), scalar_to_f64(margin)];
    let inputs = MarginInputs::new("aten::multi_margin_loss_backward", [this, target], weight, numbers, false, plan)?;
    inputs.compute_gradient(plan, out, grad_output)
}

#[op_impl(aten::multilabel_margin_loss_forward, CUDA)]
fn multilabel_margin_loss_forward(plan: &MarginLossPlan, [output, is_target]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let name = "aten::multilabel_margin_loss_forward";
    MarginInputs::new(name, [this, target], None, [1.0, 1.0], true, plan)?.compute_loss(plan, output, Some(&*is_target))
}

#[op_impl(aten::multilabel_margin_loss_backward, CUDA)]
fn multilabel_margin_loss_backward(plan: &MarginLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let name = "aten::multilabel_margin_loss_backward";
    MarginInputs::new(name, [this, target], None, [1.0, 1.0], true, plan)?.compute_gradient(plan, out, grad_output)
}
