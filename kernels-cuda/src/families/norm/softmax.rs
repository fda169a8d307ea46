//! CUDA kernels of softmax and log-softmax.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::families::norm::lines::Lines;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, and have the elements that `StridedLines` or `Lines` was computed from.
    static SOFTMAX_KERNEL = unsafe { Kernel::new("softmax", include_str!("../../../kernels/norm/softmax.cu"), |instances| {
        for (narrow, wide) in DTYPE_PAIRS {
            for (forward, backward) in [("softmax_lines", "softmax_lines_backward"), ("softmax_columns", "softmax_columns_backward")] {
                instances.add(forward, &[narrow, wide]);
                instances.add(backward, &[wide, narrow]);
            }
        }
    }) };
}

/// The pairs of dtypes that are read and written: half precision can widen, and its gradient narrows again.
pub(crate) const DTYPE_PAIRS: [(DType, DType); 6] = [
    (DType::F32, DType::F32),
    (DType::F64, DType::F64),
    (DType::F16, DType::F16),
    (DType::BF16, DType::BF16),
    (DType::F16, DType::F32),
    (DType::BF16, DType::F32),
];

define_parameters! {
    /// The kernels' `struct StridedLines`: the sizes of lines whose elements are not adjacent.
    struct StridedLines {
        length: i64,
        inner: i64,
        columns: i64,
        threads_per_line: u32,
    }
}

/// The variant of softmax that is computed for each line. The discriminant is the kernels' number of it.
#[derive(Clone, Copy)]
enum SoftmaxKind {
    Standard,
    LogSoftmax,
    /// Softmax, except that a line of only minus infinity becomes zero.
    SafeSoftmax,
}

/// Returns the length of the lines along a dimension, the distance between a line's elements, and the number of lines.
fn strided_lines_along(tensor: &Tensor, dim: usize) -> StridedLines {
    let sizes = tensor.sizes();
    let (length, inner) = (sizes.get(dim).copied().unwrap_or(1), sizes.iter().skip(dim + 1).product::<i64>());
    let threads_per_line = length.clamp(1, 8).unsigned_abs().next_power_of_two();
    let columns = tensor.geometry().count() / length.max(1);
    StridedLines { length, inner, columns, threads_per_line: u32::try_from(threads_per_line).unwrap_or(1) }
}

fn launch_softmax(dim: usize, out: &Tensor, this: &Tensor, kind: SoftmaxKind) -> Result<()> {
    let (strided, dtype) = (strided_lines_along(this, dim), out.dtype());
    let read = if DTYPE_PAIRS.contains(&(this.dtype(), dtype)) { this.dtype() } else { dtype };
    let this = contiguous(this, read)?;
    let (launch, kind) = (Launch::on_device_of(out)?, kind as i32);
    let (from, to, dtypes) = (launch.pointer(&this)?, launch.pointer(out)?, [read, dtype]);
    if strided.has_adjacent_elements() {
        let lines = Lines::divide_among_threads(launch, strided.columns, strided.length, &[(from, read), (to, dtype)]);
        launch.run(&SOFTMAX_KERNEL, "softmax_lines", &dtypes, lines.grid(), (from, to, lines, kind))?;
    } else {
        launch.run(&SOFTMAX_KERNEL, "softmax_columns", &dtypes, strided.grid(), (from, to, strided, kind))?;
    }
    Ok(())
}

fn launch_softmax_backward(
    dim: usize,
    out: &mut Tensor,
    grad_output: &Tensor,
    output: &Tensor,
    kind: SoftmaxKind,
) -> Result<()> {
    let (strided, read) = (strided_lines_along(output, dim), output.dtype());
    if out.dtype() != read && !DTYPE_PAIRS.contains(&(out.dtype(), read)) {
        return with_contiguous_output(out, read, |out| launch_softmax_backward(dim, out, grad_output, output, kind));
    }
    let (grad, output) = (contiguous(grad_output, read)?, contiguous(output, read)?);
    let (launch, kind) = (Launch::on_device_of(out)?, kind as i32);
    let (first, second, to) = (launch.pointer(&grad)?, launch.pointer(&output)?, launch.pointer(out)?);
    let dtypes = [read, out.dtype()];
    if strided.has_adjacent_elements() {
        let operands = [(first, read), (second, read), (to, out.dtype())];
        let lines = Lines::divide_among_threads(launch, strided.columns, strided.length, &operands);
        launch.run(
            &SOFTMAX_KERNEL,
            "softmax_lines_backward",
            &dtypes,
            lines.grid(),
            (first, second, to, lines, kind),
        )?;
    } else {
        launch.run(
            &SOFTMAX_KERNEL,
            "softmax_columns_backward",
            &dtypes,
            strided.grid(),
            (first, second, to, strided, kind),
        )?;
    }
    Ok(())
}

impl StridedLines {
    /// Whether the elements of a line are adjacent and can be counted in 31 bits. Other lines are processed as columns.
    fn has_adjacent_elements(&self) -> bool {
        self.inner == 1 && self.length < 1 << 31
    }

    fn grid(&self) -> Grid {
        let together = 256 / u64::from(self.threads_per_line);
        Grid::from_block_count(self.columns.unsigned_abs().div_ceil(together), 256)
    }
}

#[op_impl(aten::_softmax, CUDA)]
fn softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    launch_softmax(*plan, out, this, SoftmaxKind::Standard)
}

#[op_impl(aten::_log_softmax, CUDA)]
fn log_softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    launch_softmax(*plan, out, this, SoftmaxKind::LogSoftmax)
}

#[op_impl(aten::_safe_softmax, CUDA)]
fn safe_softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    launch_softmax(*plan, out, this, SoftmaxKind::SafeSoftmax)
}

#[op_impl(aten::_softmax_backward_data, CUDA)]
fn softmax_backward_cuda(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    launch_softmax_backward(*plan, out, grad_output, output, SoftmaxKind::Standard)
}

#[op_impl(aten::_log_softmax_backward_data, CUDA)]
fn log_softmax_backward_cuda(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    launch_softmax_backward(*plan, out, grad_output, output, SoftmaxKind::LogSoftmax)
}
