//! CUDA kernels of `nll_loss`, which selects one element of each line.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{NllLossPlan, Reduction};

use crate::engine::reduce::reduction_dtype;
use crate::prelude::*;

kernel! {
    // SAFETY: the launches here and in margin.rs pass packed tensors of sizes that `aten` checked. A class is checked where it is read.
    pub(super) static CLASS_LOSSES_KERNEL = unsafe { Kernel::new("class_losses", include_str!("../../../kernels/loss/class_losses.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["nll_loss", "sum_losses", "nll_loss_backward", "margin_loss", "margin_loss_backward"], &FLOATING_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct ClassTargets`: the sizes of the lines, and the target's dtype.
    struct ClassTargets {
        count: i64,
        classes: i64,
        stride: i64,
        ignored: i64,
        dtype: i32,
        site: FaultSite,
        fault: DevicePointer,
    }
}

/// The contiguous target and weight of a loss, and its sizes.
struct NllInputs {
    launch: Launch,
    target: Tensor,
    weight: Option<Tensor>,
    targets: ClassTargets,
}

impl NllInputs {
    fn new(
        [lines, images]: [&'static str; 2],
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
        likelihood: &NllLossPlan,
    ) -> Result<Self> {
        let launch = Launch::on_device_of(this)?;
        let weight = weight.map(|weight| contiguous(weight, this.dtype())).transpose()?;
        let targets = ClassTargets {
            count: target.geometry().count(),
            classes: likelihood.classes,
            stride: this.sizes()[likelihood.dim + 1..].iter().product(),
            ignored,
            dtype: target.dtype() as i32,
            site: FaultSite::for_argument(if this.sizes().len() == 4 { images } else { lines }, "target"),
            fault: launch.fault_record(),
        };
        Ok(Self { launch, target: contiguous(target, target.dtype())?, weight, targets })
    }
}

#[op_impl(aten::nll_loss_forward, CUDA)]
#[op_impl(aten::nll_loss2d_forward, CUDA)]
fn nll_loss_forward(plan: &NllLossPlan, [output, total]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let names = ["aten::nll_loss_forward", "aten::nll_loss2d_forward"];
    let NllInputs { launch, target, weight, targets } =
        NllInputs::new(names, this, target, weight, ignore_index, plan)?;
    let (this, weight, dtypes) = (contiguous(this, this.dtype())?, weight.as_ref(), [this.dtype()]);
    if plan.reduction == Reduction::None {
        copy_into(total, &Tensor::number(0.into()))?;
        let arguments = (&this, &target, weight, output, DevicePointer::NULL, targets);
        return launch.run_per_element(&CLASS_LOSSES_KERNEL, "nll_loss", &dtypes, targets.count, arguments);
    }
    let blocks = targets.count.unsigned_abs().div_ceil(256).clamp(1, u64::from(launch.multiprocessors()) * 4);
    let blocks = u32::try_from(blocks).unwrap_or(1);
    let dtype = reduction_dtype(this.dtype()).unwrap_or(DType::F32);
    let sums = Spec::contiguous(dtype, &[i64::from(blocks), 2]).on(this.device())?;
    let arguments = (&this, &target, weight, DevicePointer::NULL, &sums, targets);
    launch.run(&CLASS_LOSSES_KERNEL, "nll_loss", &dtypes, Grid::new(blocks, 256), arguments)?;
    let mean = i32::from(plan.reduction == Reduction::Mean);
    Ok(launch.run(
        &CLASS_LOSSES_KERNEL,
        "sum_losses",
        &dtypes,
        Grid::new(1, 256),
        (&sums, blocks, output, total, mean),
    )?)
}

#[op_impl(aten::nll_loss_backward, CUDA)]
#[op_impl(aten::nll_loss2d_backward, CUDA)]
fn nll_loss_backward(plan: &NllLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    copy_into(out, &Tensor::number(0.into()))?;
    let names = ["aten::nll_loss_backward", "aten::nll_loss2d_backward"];
    let NllInputs { launch, target, weight, targets } =
        NllInputs::new(names, this, target, weight, ignore_index, plan)?;
    let (grad, total) = (contiguous(grad_output, this.dtype())?, contiguous(total_weight, this.dtype())?);
    let total = (plan.reduction == Reduction::Mean).then_some(&total);
    let one = i32::from(plan.reduction != Reduction::None);
    let arguments = (out, &target, weight.as_ref(), &grad, total, targets, one);
    launch.run_per_element(&CLASS_LOSSES_KERNEL, "nll_loss_backward", &[this.dtype()], targets.count, arguments)
}
