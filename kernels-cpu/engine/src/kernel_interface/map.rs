//! Functions of elements.

use dispatch_runtime::{
    BadArgument, DType, Device, Element, Operands, Result, Sizes, Spec, Tensor, broadcast, result_dtype,
};

use super::INPUT_NAMES;
use crate::convert::compute_dtype;
use crate::elementwise::{is_contiguous_like, run_function};

/// Computes a tensor from one to four inputs: `f` gets the elements of the inputs at one position, and returns that of the result. The
/// inputs are broadcast, and converted to the type that `f` takes.
///
/// The strides of the result are those of PyTorch's elementwise operators. Its dtype is that of the type that `f` returns. If `f` computes
/// in `f32` and the inputs promote to a 16-bit float, the result is rounded to this dtype.
///
/// ```
/// use dispatch_runtime::{Bool, DType, Tensor, bf16};
/// use kernels_cpu::engine::map;
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let (column, row) = (Tensor::from([[1.0_f32], [2.0]]), Tensor::from([10.0_f32, 20.0]));
/// let sum = map([&column, &row], |[a, b]: [f32; 2]| a + b)?;
/// assert_eq!((sum.sizes(), sum.to_vec::<f32>()?), (&[2, 2][..], vec![11.0, 21.0, 12.0, 22.0]));
///
/// let is_large = map([&row], |[x]: [f32; 1]| Bool::from(x > 15.0))?;
/// assert_eq!(is_large.dtype(), DType::Bool);
///
/// let halves = map([&Tensor::from([bf16::ONE; 3])], |[x]: [f32; 1]| x / 2.0)?;
/// assert_eq!(halves.dtype(), DType::BF16);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if the inputs do not broadcast, if one is not in memory of the CPU, or if one is borrowed for writing. Returns
/// [`OutOfMemory`](dispatch_runtime::OutOfMemory) if there is no memory for the result.
pub fn map<C: Element, R: Element, const N: usize>(
    inputs: [&Tensor; N],
    f: impl Fn([C; N]) -> R + Send + Sync,
) -> Result<Tensor> {
    let dtype = result_dtype_of_function(&inputs, C::DTYPE, R::DTYPE);
    let are_alike = are_alike(&inputs);
    let mut out = match inputs.first() {
        Some(first) if are_alike && first.device() == Device::CPU => first.allocate_like(dtype)?,
        _ => Spec::pointwise(&inputs, dtype)?.on(Device::CPU)?,
    };
    run(&mut out, inputs, f)?;
    Ok(out)
}

/// Computes as [`map`] does, into a tensor of the broadcast sizes, with any strides. Results are converted to its dtype. The tensor may be
/// one of the inputs.
///
/// A kernel with a plan uses it, and so serves the in-place and the `out=` form as well:
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::PointwisePlan;
/// use kernels_cpu::engine::{self as cpu, Real};
///
/// #[op_def("mapped::blend(Tensor self, Tensor other) -> Tensor", shape = pointwise, inplace, out = "out")]
/// pub fn blend(this: &Tensor, other: &Tensor) -> Result<Tensor>;
///
/// #[op_impl(blend, CPU, dtypes(floating), in_place, strided, converts)]
/// fn blend_cpu<T: cpu::Float>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor, other: &Tensor) -> Result<()> {
///     cpu::map_into(out, [this, other], |[a, b]: [T::Compute; 2]| a * b.sigmoid())
/// }
///
/// # fn main() -> Result<()> {
/// let mut x = Tensor::from([2.0, 4.0]);
/// blend_(&mut x, &Tensor::from(0.0))?;
/// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of [`map`], and [`BadArgument`] if `out` has other sizes, or shares memory with itself or a part of an input.
pub fn map_into<C: Element, R: Element, const N: usize>(
    out: &mut Tensor,
    inputs: [&Tensor; N],
    f: impl Fn([C; N]) -> R + Send + Sync,
) -> Result<()> {
    let are_alike = are_alike(&inputs) && inputs.first().is_some_and(|first| is_contiguous_like(out, first));
    if !are_alike {
        let sizes = broadcast(inputs.iter().map(|input| input.sizes()))?;
        if out.sizes() != &sizes[..] {
            return Err(BadArgument::sizes("out", out.sizes(), Sizes::Are(sizes.to_vec())).into());
        }
    }
    run(out, inputs, f)
}

/// Runs the loop. `out` has the sizes that the inputs broadcast to.
#[inline]
fn run<C: Element, R: Element, const N: usize>(
    out: &mut Tensor,
    inputs: [&Tensor; N],
    f: impl Fn([C; N]) -> R + Send + Sync,
) -> Result<()> {
    const { assert!(N >= 1 && N <= INPUT_NAMES.len(), "a function of elements has one to four inputs") };
    let common_dtype = result_dtype_of_function(&inputs, C::DTYPE, C::DTYPE);
    let operands = Operands::borrow(&["out"], [out], &INPUT_NAMES, inputs)?;
    run_function(&operands, common_dtype, f);
    Ok(())
}

/// Returns whether all inputs are contiguous tensors of one dtype and the same sizes.
#[inline]
fn are_alike(inputs: &[&Tensor]) -> bool {
    let [first, rest @ ..] = inputs else { return false };
    first.geometry().is_contiguous()
        && rest.iter().all(|input| input.dtype() == first.dtype() && is_contiguous_like(input, first))
}

/// Returns the dtype of the results of a function: `returned`, or the 16-bit float that stands for it.
fn result_dtype_of_function(inputs: &[&Tensor], computed: DType, returned: DType) -> DType {
    if computed != DType::F32 || returned != DType::F32 {
        return returned;
    }
    let common = result_dtype(inputs.iter().copied());
    let is_narrow = common != DType::F32 && common.is_floating() && !common.is_float8();
    if is_narrow && compute_dtype(common) == DType::F32 { common } else { returned }
}
