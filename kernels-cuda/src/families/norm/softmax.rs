//! CUDA kernels of softmax and log-softmax.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::families::norm::lines::Lines;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, and have the elements that `Across` or `Lines` was computed from.
    static SOFTMAX = unsafe { Kernel::new("softmax", include_str!("../../../kernels/norm/softmax.cu"), |instances| {
        for (narrow, wide) in PAIRS {
            for (forward, backward) in [("lines", "lines_backward"), ("columns", "columns_backward")] {
                instances.one(forward, &[narrow, wide]);
                instances.one(backward, &[wide, narrow]);
            }
        }
    }) };
}

/// The pairs of dtypes that are read and written: half precision can widen, and its gradient narrows again.
pub(crate) const PAIRS: [(DType, DType); 6] = [
    (DType::F32, DType::F32),
    (DType::F64, DType::F64),
    (DType::F16, DType::F16),
    (DType::BF16, DType::BF16),
    (DType::F16, DType::F32),
    (DType::BF16, DType::F32),
];

parameters! {
    /// The kernels' `struct Across`: the sizes of lines whose elements are not adjacent.
    struct Across {
        length: i64,
        inner: i64,
        columns: i64,
        ways: u32,
    }
}

/// The function that is computed of a line. The discriminant is the kernels' number of it.
#[derive(Clone, Copy)]
enum Kind {
    Softmax,
    Log,
    /// Softmax, except that a line of only minus infinity becomes zero.
    Safe,
}

/// Returns the length of the lines along a dimension, the distance between a line's elements, and the number of lines.
fn cut(tensor: &Tensor, dim: usize) -> Across {
    let sizes = tensor.sizes();
    let (length, inner) = (sizes.get(dim).copied().unwrap_or(1), sizes.iter().skip(dim + 1).product::<i64>());
    let ways = length.clamp(1, 8).unsigned_abs().next_power_of_two();
    let columns = tensor.geometry().count() / length.max(1);
    Across { length, inner, columns, ways: u32::try_from(ways).unwrap_or(1) }
}

fn softmax(dim: usize, out: &Tensor, this: &Tensor, kind: Kind) -> Result<()> {
    let (across, dtype) = (cut(this, dim), out.dtype());
    let read = if PAIRS.contains(&(this.dtype(), dtype)) { this.dtype() } else { dtype };
    let this = contiguous(this, read)?;
    let (launch, kind) = (Launch::on(out)?, kind as i32);
    let (from, to, dtypes) = (launch.place(&this)?, launch.place(out)?, [read, dtype]);
    if across.is_lines() {
        let lines = Lines::of(launch, across.columns, across.length, &[(from, read), (to, dtype)]);
        launch.run(&SOFTMAX, "lines", &dtypes, lines.grid(), (from, to, lines, kind))?;
    } else {
        launch.run(&SOFTMAX, "columns", &dtypes, across.grid(), (from, to, across, kind))?;
    }
    Ok(())
}

fn softmax_backward(dim: usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor, kind: Kind) -> Result<()> {
    let (across, read) = (cut(output, dim), output.dtype());
    if out.dtype() != read && !PAIRS.contains(&(out.dtype(), read)) {
        return computed_contiguous(out, read, |out| softmax_backward(dim, out, grad_output, output, kind));
    }
    let (grad, output) = (contiguous(grad_output, read)?, contiguous(output, read)?);
    let (launch, kind) = (Launch::on(out)?, kind as i32);
    let (first, second, to) = (launch.place(&grad)?, launch.place(&output)?, launch.place(out)?);
    let dtypes = [read, out.dtype()];
    if across.is_lines() {
        let operands = [(first, read), (second, read), (to, out.dtype())];
        let lines = Lines::of(launch, across.columns, across.length, &operands);
        launch.run(&SOFTMAX, "lines_backward", &dtypes, lines.grid(), (first, second, to, lines, kind))?;
    } else {
        launch.run(&SOFTMAX, "columns_backward", &dtypes, across.grid(), (first, second, to, across, kind))?;
    }
    Ok(())
}

impl Across {
    /// Whether the elements of a line are adjacent and can be counted in 31 bits. Other lines are processed as columns.
    fn is_lines(&self) -> bool {
        self.inner == 1 && self.length < 1 << 31
    }

    fn grid(&self) -> Grid {
        let together = 256 / u64::from(self.ways);
        Grid::of(self.columns.unsigned_abs().div_ceil(together), 256)
    }
}

#[op_impl(aten::_softmax, CUDA)]
fn softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax(*plan, out, this, Kind::Softmax)
}

#[op_impl(aten::_log_softmax, CUDA)]
fn log_softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax(*plan, out, this, Kind::Log)
}

#[op_impl(aten::_safe_softmax, CUDA)]
fn safe_softmax_cuda(plan: &usize, out: &mut Tensor, this: &Tensor) -> Result<()> {
    softmax(*plan, out, this, Kind::Safe)
}

#[op_impl(aten::_softmax_backward_data, CUDA)]
fn softmax_backward_cuda(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    softmax_backward(*plan, out, grad_output, output, Kind::Softmax)
}

#[op_impl(aten::_log_softmax_backward_data, CUDA)]
fn log_softmax_backward_cuda(plan: &usize, out: &mut Tensor, grad_output: &Tensor, output: &Tensor) -> Result<()> {
    softmax_backward(*plan, out, grad_output, output, Kind::Log)
}
