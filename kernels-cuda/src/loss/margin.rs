//! Losses of classes by how far the true ones stand out: a line to a block.

use aten::{Margins, Reduction};
use dispatch_runtime::{DType, Result, Scalar, Spec, Tensor, op_impl};

use super::likelihood::LOSS;
use super::reduced;
use crate::copying::packed;
use crate::fault::Site;
use crate::launch::{Launch, Parameter, Place};
use crate::machine::Grid;
use crate::reduce::class;

/// `struct Margins` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Given {
    lines: i64,
    classes: i64,
    margin: f64,
    squared: i32,
    several: i32,
    site: Site,
    fault: Place,
}

impl Parameter for Given {}

/// What losses are computed from, side by side.
struct Taken {
    launch: Launch,
    this: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    given: Given,
}

impl Taken {
    fn of(
        name: &'static str,
        [this, target]: [&Tensor; 2],
        weight: Option<&Tensor>,
        [p, margin]: [f64; 2],
        several: bool,
        margins: &Margins,
    ) -> Result<Self> {
        let launch = Launch::on(this)?;
        let given = Given {
            lines: i64::try_from(margins.lines).unwrap_or(i64::MAX),
            classes: i64::try_from(margins.classes).unwrap_or(i64::MAX),
            margin,
            squared: i32::from(p.to_bits() == 2.0_f64.to_bits()),
            several: several.into(),
            site: Site::of(name, "target"),
            fault: launch.faults(),
        };
        let weight = weight.map(|weight| packed(weight, this.dtype())).transpose()?;
        Ok(Self { launch, this: packed(this, this.dtype())?, target: packed(target, DType::I64)?, weight, given })
    }

    fn places(&self) -> Result<(Place, Place, Place)> {
        let weight = self.weight.as_ref().map(|weight| self.launch.place(weight)).transpose()?;
        Ok((self.launch.place(&self.this)?, self.launch.place(&self.target)?, weight.unwrap_or(Place::NULL)))
    }

    fn grid(&self) -> Grid {
        Grid::of(self.given.lines.unsigned_abs(), 256)
    }

    /// What becomes of the losses of lines. `is_target` is written where it is given.
    fn forward(&self, margins: &Margins, is_target: Option<&Tensor>) -> Result<Tensor> {
        let dtype = class(self.this.dtype()).unwrap_or(DType::F32);
        let losses = Spec::contiguous(dtype, &[self.given.lines]).on(self.this.device())?;
        let marks = is_target.map(|marks| self.launch.place(marks)).transpose()?.unwrap_or(Place::NULL);
        let (from, target, weight) = self.places()?;
        let arguments = (from, target, weight, self.launch.place(&losses)?, marks, self.given);
        self.launch.run(&LOSS, "margin", &[self.this.dtype()], self.grid(), arguments)?;
        // The mean of none is nothing, and no number divided by zero.
        let reduction = if margins.lines == 0 { Reduction::Sum } else { margins.reduction };
        let whole = margins.reduction == Reduction::None;
        let result = if whole { losses } else { reduced(losses, reduction)? };
        packed(&aten::view(&result, &margins.sizes)?, self.this.dtype())
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    fn backward(&self, grad_output: &Tensor, margins: &Margins) -> Result<Tensor> {
        margins.check_gradient(grad_output)?;
        let out = Spec::contiguous(self.this.dtype(), self.this.sizes()).on(self.this.device())?;
        let shared = if margins.reduction == Reduction::Mean { margins.lines.max(1) } else { 1 };
        let scale = ((shared * margins.classes) as f64).recip();
        let grad = packed(grad_output, self.this.dtype())?;
        let one = i32::from(grad.geometry().count() == 1);
        let (from, target, weight) = self.places()?;
        let arguments =
            (from, target, weight, self.launch.place(&grad)?, self.launch.place(&out)?, self.given, scale, one);
        self.launch.run(&LOSS, "margin_backward", &[self.this.dtype()], self.grid(), arguments)?;
        Ok(out)
    }
}

fn number(scalar: Scalar) -> f64 {
    scalar.to_f64().unwrap_or(f64::NAN)
}

#[op_impl(aten::multi_margin_loss, CUDA)]
fn multi_margin_loss(
    this: &Tensor,
    target: &Tensor,
    p: Scalar,
    margin: Scalar,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let margins = Margins::of_one(this, target, [p, margin], weight, reduction)?;
    let numbers = [number(p), number(margin)];
    Taken::of("aten::multi_margin_loss", [this, target], weight, numbers, false, &margins)?.forward(&margins, None)
}

#[op_impl(aten::multi_margin_loss_backward, CUDA)]
fn multi_margin_loss_backward(
    grad_output: &Tensor,
    this: &Tensor,
    target: &Tensor,
    p: Scalar,
    margin: Scalar,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let margins = Margins::of_one(this, target, [p, margin], weight, reduction)?;
    let numbers = [number(p), number(margin)];
    let taken = Taken::of("aten::multi_margin_loss_backward", [this, target], weight, numbers, false, &margins)?;
    taken.backward(grad_output, &margins)
}

#[op_impl(aten::multilabel_margin_loss_forward, CUDA)]
fn multilabel_margin_loss_forward(this: &Tensor, target: &Tensor, reduction: i64) -> Result<(Tensor, Tensor)> {
    let margins = Margins::of_several(this, target, reduction)?;
    let is_target = Spec::contiguous(this.dtype(), target.sizes()).on(this.device())?;
    let name = "aten::multilabel_margin_loss_forward";
    let taken = Taken::of(name, [this, target], None, [1.0, 1.0], true, &margins)?;
    Ok((taken.forward(&margins, Some(&is_target))?, is_target))
}

#[op_impl(aten::multilabel_margin_loss_backward, CUDA)]
fn multilabel_margin_loss_backward(
    grad_output: &Tensor,
    this: &Tensor,
    target: &Tensor,
    reduction: i64,
    is_target: &Tensor,
) -> Result<Tensor> {
    let margins = Margins::of_several(this, target, reduction)?;
    aten::check_true("is_target", is_target, target)?;
    let name = "aten::multilabel_margin_loss_backward";
    let taken = Taken::of(name, [this, target], None, [1.0, 1.0], true, &margins)?;
    taken.backward(grad_output, &margins)
}
