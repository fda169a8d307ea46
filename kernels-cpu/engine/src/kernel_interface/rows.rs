//! Functions of rows.

use dispatch_runtime::{
    BadArgument, DType, Device, Element, Floating, Operand, Operands, Problem, ReductionDims, Result, Sizes, Spec,
    Tensor,
};

use super::INPUT_NAMES;
use crate::compute::sum_lanes;
use crate::math::vectorised;
use crate::reduce::for_each_line;

/// Computes a tensor row by row. A row has the elements along `dims`, at one position of the other dimensions; an empty list means all
/// dimensions. `f` gets the rows of the inputs at one position, and writes that of the result, which has the sizes of the first input. Rows
/// are divided among threads.
///
/// The row of the result has arbitrary contents at first: `f` must write each of its elements, and must not read one before. A loop over
/// `out.iter_mut().zip(..)` ends with the shorter of both, so check the sizes of other tensors before the call.
///
/// The inputs have equal sizes, except along `dims`. The result is contiguous. It has the dtype `C`, or that of the first input if this is
/// a 16-bit float and `C` is `f32`.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use kernels_cpu::engine::map_rows;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let x = Tensor::from([[1.0, 2.0], [3.0, 5.0]]);
/// let sums = map_rows([&x], &[0], |[column]: [&[f64]; 1], out| {
///     let mut sum = 0.0;
///     for (out, x) in out.iter_mut().zip(column) {
///         sum += x;
///         *out = sum;
///     }
/// })?;
/// assert_eq!(sums.to_vec::<f64>()?, [1.0, 2.0, 4.0, 7.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if `dims` are not dimensions of the first input, if the sizes of another input differ, if an input is not in
/// memory of the CPU, or if one is borrowed for writing. Returns [`OutOfMemory`](dispatch_runtime::OutOfMemory) if there is no memory for
/// the result.
pub fn map_rows<C: Element, const N: usize>(
    inputs: [&Tensor; N],
    dims: &[i64],
    f: impl Fn([&[C]; N], &mut [C]) + Sync,
) -> Result<Tensor> {
    const { assert!(N >= 1 && N <= INPUT_NAMES.len(), "a function of rows has one to four inputs") };
    let first = inputs[0];
    let is_half = matches!(first.dtype(), DType::F16 | DType::BF16);
    let dtype = if is_half && C::DTYPE == DType::F32 { first.dtype() } else { C::DTYPE };
    let mut out = Spec::contiguous(dtype, first.sizes()).on(Device::CPU)?;
    map_rows_into(&mut out, inputs, dims, f)?;
    Ok(out)
}

/// Computes as [`map_rows`] does, into a tensor with any strides, whose rows may have another length. Results are converted to its dtype.
/// Here, too, the rows of `out` have arbitrary contents at first, and `f` must write each element.
///
/// ```
/// use dispatch_runtime::Tensor;
/// use kernels_cpu::engine::map_rows_into;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (x, mut ranges) = (Tensor::from([[1.0, 2.0], [3.0, 5.0]]), Tensor::from([[0.0_f32], [0.0]]));
/// map_rows_into(&mut ranges, [&x], &[-1], |[row]: [&[f64]; 1], out| {
///     let (low, high) = row.iter().fold((row[0], row[0]), |(low, high), &x| (x.min(low), x.max(high)));
///     out[0] = high - low;
/// })?;
/// assert_eq!(ranges.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`map_rows`], and [`BadArgument`] if the sizes of `out` differ from the first input's in a dimension that is not
/// along the rows, or if `out` shares memory with itself or with an input.
pub fn map_rows_into<C: Element, R: Element, const N: usize>(
    out: &mut Tensor,
    inputs: [&Tensor; N],
    dims: &[i64],
    f: impl Fn([&[C]; N], &mut [R]) + Sync,
) -> Result<()> {
    const { assert!(N >= 1 && N <= INPUT_NAMES.len(), "a function of rows has one to four inputs") };
    let along_rows = ReductionDims::plan(inputs[0], dims, true, R::DTYPE)?.value.is_reduced;
    let operands = Operands::borrow(&["out"], [out], &INPUT_NAMES, inputs)?;
    check_rows(&along_rows, operands.written(), operands.read())?;
    for_each_line(&along_rows, &operands, |_, rows: [&[C]; N], [out]: [&mut [R]; 1], []: [&mut [R]; 0]| {
        vectorised(
            #[inline(always)]
            || f(rows, out),
        );
    });
    Ok(())
}

/// Checks that all operands have the first input's sizes in the dimensions that are not along the rows, and that no input is written.
fn check_rows(along_rows: &[bool], written: &[Operand<'_>; 1], inputs: &[Operand<'_>]) -> Result<(), BadArgument> {
    let [out] = written;
    let all = inputs[0].geometry().sizes();
    for (name, operand) in [("out", out)].into_iter().chain(INPUT_NAMES.into_iter().zip(inputs)) {
        let sizes = operand.geometry().sizes();
        if sizes.len() != all.len() {
            return Err(BadArgument::rank(name, sizes.len(), all.len()).like(INPUT_NAMES[0]));
        }
        if let Some(dim) = (0..all.len()).find(|&dim| !along_rows[dim] && sizes[dim] != all[dim]) {
            let expected = Sizes::Dim { dim, size: all[dim].into() };
            return Err(BadArgument::sizes(name, sizes, expected).like(INPUT_NAMES[0]));
        }
        if name != "out" && operand.is_same_elements_as(out) {
            return Err(BadArgument::new(name, Problem::Overlap { with: "out".into() }));
        }
    }
    Ok(())
}

/// Returns the sum of `f` over a row: in several lanes, and over long rows in double precision, so that the rounding error stays small.
///
/// ```
/// let row = [0.1_f32; 100_000];
/// assert!((kernels_cpu::engine::sum(&row, |x| x * x) - 1000.0).abs() < 1e-3);
/// ```
#[inline(always)]
pub fn sum<T: Floating>(row: &[T], f: impl Fn(T) -> T) -> f64 {
    const LANE_COUNT: usize = 32;
    const ELEMENTS_PER_LANE: usize = 64;
    let mut sum = 0.0;
    for block in row.chunks(LANE_COUNT * ELEMENTS_PER_LANE) {
        let mut lanes = [T::ZERO; LANE_COUNT];
        let (wide, rest) = block.as_chunks::<LANE_COUNT>();
        for values in wide {
            for (lane, &x) in lanes.iter_mut().zip(values) {
                *lane = *lane + f(x);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane = *lane + f(x);
        }
        sum += sum_lanes(lanes).to_f64();
    }
    sum
}
