//! CUDA kernels of the CTC loss: one block for each sequence.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::CtcLossPlan;

use crate::engine::reduce::reduction_dtype;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here. Lengths come from the CPU, where `aten` checked them; labels are checked where they
    // are read.
    static CTC_KERNEL = unsafe { Kernel::new("ctc", include_str!("../../../kernels/loss/ctc.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["ctc_forward", "ctc_backward"], &[DType::F32, DType::F64]);
    }) };
}

define_parameters! {
    /// The kernels' `struct CtcShape`: the sizes of a CTC loss.
    struct CtcShape {
        steps: i64,
        batch: i64,
        classes: i64,
        width: i64,
        blank: i64,
        site: FaultSite,
        fault: DevicePointer,
    }
}

/// The contiguous inputs of a CTC loss, in the type that is computed in.
struct CtcInputs {
    launch: Launch,
    dtype: DType,
    probs: Tensor,
    targets: Tensor,
    lengths: Tensor,
    shape: CtcShape,
}

impl CtcInputs {
    fn new(
        name: &'static str,
        log_probs: &Tensor,
        targets: &Tensor,
        blank: i64,
        labelling: &CtcLossPlan,
    ) -> Result<Self> {
        let launch = Launch::on_device_of(log_probs)?;
        let dtype = reduction_dtype(log_probs.dtype()).unwrap_or(DType::F32);
        let whole = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        let lengths = labelling.steps.iter().zip(&labelling.labels);
        let lengths: Vec<i64> =
            lengths.flat_map(|(steps, (first, count))| [*steps, *first, *count].map(whole)).collect();
        let lengths = to_device(&Tensor::from_slice(&lengths), log_probs.device())?;
        let shape = CtcShape {
            steps: log_probs.sizes()[0],
            batch: log_probs.sizes()[1],
            classes: log_probs.sizes()[2],
            width: 2 * whole(labelling.longest) + 1,
            blank,
            site: FaultSite::for_argument(name, "targets"),
            fault: launch.fault_record(),
        };
        let (probs, targets) = (contiguous(log_probs, dtype)?, contiguous(targets, DType::I64)?);
        Ok(Self { launch, dtype, probs, targets, lengths, shape })
    }

    fn grid(&self) -> Grid {
        Grid::from_block_count(self.shape.batch.unsigned_abs(), 256)
    }
}

#[op_impl(aten::_ctc_loss, CUDA)]
fn _ctc_loss(plan: &CtcLossPlan, [losses, alphas]: [&mut Tensor; 2], _: ...) -> Result<()> {
    let sequences = CtcInputs::new("aten::_ctc_loss", log_probs, targets, blank, plan)?;
    let CtcInputs { launch, dtype, probs, targets, lengths, shape } = &sequences;
    with_contiguous_output(losses, *dtype, |losses| {
        with_contiguous_output(alphas, *dtype, |alphas| {
            let arguments = (probs, targets, lengths, alphas, losses, *shape);
            Ok(launch.run(&CTC_KERNEL, "ctc_forward", &[*dtype], sequences.grid(), arguments)?)
        })
    })
}

#[op_impl(aten::_ctc_loss_backward, CUDA)]
fn _ctc_loss_backward(plan: &CtcLossPlan, out: &mut Tensor, _: ...) -> Result<()> {
    let sequences = CtcInputs::new("aten::_ctc_loss_backward", log_probs, targets, blank, plan)?;
    let CtcInputs { launch, dtype, probs, targets, lengths, shape } = &sequences;
    let [alphas, losses, grads] = [log_alpha, neg_log_likelihood, grad].map(|tensor| contiguous(tensor, *dtype));
    let (alphas, losses, grads) = (alphas?, losses?, grads?);
    let betas = Spec::contiguous(*dtype, &[shape.batch, 2, shape.width]).on(launch.device())?;
    let zero_infinity = i32::from(zero_infinity);
    with_contiguous_output(out, *dtype, |out| {
        let arguments = (probs, targets, lengths, &alphas, &losses, &grads, &betas, out, *shape, zero_infinity);
        Ok(launch.run(&CTC_KERNEL, "ctc_backward", &[*dtype], sequences.grid(), arguments)?)
    })
}
