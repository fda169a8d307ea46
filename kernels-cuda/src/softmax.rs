//! Softmax and its logarithm.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::{DType, Result, Spec, Tensor, op_impl, wrap_dim};

use crate::copying::packed;
use crate::kernel::Kernel;
use crate::launch::{Launch, Parameter};
use crate::line::Lines;
use crate::machine::Grid;

kernel! {
    // SAFETY: all tensors are packed or made here, and have the elements that `Across` or `Lines` was made from.
    static SOFTMAX = unsafe { Kernel::new("softmax", include_str!("../kernels/softmax.cu"), |instances| {
        for (narrow, wide) in PAIRS {
            for (forward, backward) in [("lines", "lines_backward"), ("columns", "columns_backward")] {
                instances.one(forward, &[narrow, wide]);
                instances.one(backward, &[wide, narrow]);
            }
        }
    }) };
}

/// What is read, and what is written: halves can become wider, and gradients narrower again.
pub(crate) const PAIRS: [(DType, DType); 6] = [
    (DType::F32, DType::F32),
    (DType::F64, DType::F64),
    (DType::F16, DType::F16),
    (DType::BF16, DType::BF16),
    (DType::F16, DType::F32),
    (DType::BF16, DType::F32),
];

/// `struct Across` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Across {
    length: i64,
    inner: i64,
    columns: i64,
    ways: u32,
}

impl Parameter for Across {}

/// What is computed of a line, as the kernels number it.
#[derive(Clone, Copy)]
enum Kind {
    Softmax,
    Log,
    /// A line of nothing but minus infinity becomes zero.
    Safe,
}

/// How many elements a line has, how many are between its neighbours, and how many lines there are.
fn cut(tensor: &Tensor, dim: i64) -> Result<Across> {
    let sizes = tensor.sizes();
    let dim = wrap_dim("dim", dim, sizes.len())?;
    let (length, inner) = (sizes.get(dim).copied().unwrap_or(1), sizes.iter().skip(dim + 1).product::<i64>());
    let ways = length.clamp(1, 8).unsigned_abs().next_power_of_two();
    let columns = tensor.geometry().count() / length.max(1);
    Ok(Across { length, inner, columns, ways: u32::try_from(ways).unwrap_or(1) })
}

fn softmax(this: &Tensor, dim: i64, dtype: Option<DType>, kind: Kind) -> Result<Tensor> {
    let spec = aten::softmax_spec(this, dim, dtype)?;
    let across = cut(this, dim)?;
    let dtype = spec.dtype;
    let out = spec.on(this.device())?;
    if out.geometry().count() == 0 {
        return Ok(out);
    }
    let read = if PAIRS.contains(&(this.dtype(), dtype)) { this.dtype() } else { dtype };
    let this = packed(this, read)?;
    let (launch, kind) = (Launch::on(&out)?, kind as i32);
    let (from, to, dtypes) = (launch.place(&this)?, launch.place(&out)?, [read, dtype]);
    if across.is_lines() {
        let lines = Lines::of(launch, across.columns, across.length, &[(from, read), (to, dtype)]);
        launch.run(&SOFTMAX, "lines", &dtypes, lines.grid(), (from, to, lines, kind))?;
    } else {
        launch.run(&SOFTMAX, "columns", &dtypes, across.grid(), (from, to, across, kind))?;
    }
    Ok(out)
}

fn softmax_backward(grad_output: &Tensor, output: &Tensor, dim: i64, input_dtype: DType, kind: Kind) -> Result<Tensor> {
    let spec = aten::softmax_backward_spec(grad_output, output, dim, input_dtype)?;
    let across = cut(output, dim)?;
    let read = output.dtype();
    let written = if PAIRS.contains(&(input_dtype, read)) { input_dtype } else { read };
    let out = Spec { dtype: written, ..spec }.on(output.device())?;
    if out.geometry().count() == 0 {
        return packed(&out, input_dtype);
    }
    let (grad, output) = (packed(grad_output, read)?, packed(output, read)?);
    let (launch, kind) = (Launch::on(&out)?, kind as i32);
    let (first, second, to) = (launch.place(&grad)?, launch.place(&output)?, launch.place(&out)?);
    let dtypes = [read, written];
    if across.is_lines() {
        let operands = [(first, read), (second, read), (to, written)];
        let lines = Lines::of(launch, across.columns, across.length, &operands);
        launch.run(&SOFTMAX, "lines_backward", &dtypes, lines.grid(), (first, second, to, lines, kind))?;
    } else {
        launch.run(&SOFTMAX, "columns_backward", &dtypes, across.grid(), (first, second, to, across, kind))?;
    }
    packed(&out, input_dtype)
}

impl Across {
    /// Whether elements of a line are side by side. A very long line is gone across.
    fn is_lines(&self) -> bool {
        self.inner == 1 && self.length < 1 << 31
    }

    fn grid(&self) -> Grid {
        let together = 256 / u64::from(self.ways);
        Grid::of(self.columns.unsigned_abs().div_ceil(together), 256)
    }
}

#[op_impl(aten::_softmax, CUDA)]
fn softmax_cuda(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
    softmax(this, dim, half_to_float.then_some(DType::F32), Kind::Softmax)
}

#[op_impl(aten::_log_softmax, CUDA)]
fn log_softmax_cuda(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
    softmax(this, dim, half_to_float.then_some(DType::F32), Kind::Log)
}

#[op_impl(aten::_safe_softmax, CUDA)]
fn safe_softmax_cuda(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    softmax(this, dim, dtype, Kind::Safe)
}

#[op_impl(aten::_softmax_backward_data, CUDA)]
fn softmax_backward_cuda(grad_output: &Tensor, output: &Tensor, dim: i64, input_dtype: DType) -> Result<Tensor> {
    softmax_backward(grad_output, output, dim, input_dtype, Kind::Softmax)
}

#[op_impl(aten::_log_softmax_backward_data, CUDA)]
fn log_softmax_backward_cuda(grad_output: &Tensor, output: &Tensor, dim: i64, input_dtype: DType) -> Result<Tensor> {
    softmax_backward(grad_output, output, dim, input_dtype, Kind::Log)
}
