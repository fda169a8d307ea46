//! The elementwise engine: loops over broadcast operands for kernels that map elements.
//!
//! A kernel supplies a function of elements. The engine does everything else: broadcasting, strides, type promotion, fresh, given or
//! in-place results, threads, and the instruction set. The function is compiled for the few types that loops compute in (see
//! [`convert`](crate::convert)). Operands with other dtypes or strides, and operands that are written in place, are copied through a block
//! that fits the cache. So each operator and type has one loop, and that loop always runs over contiguous elements.
#![expect(unsafe_code, reason = "the loops rely on checked layouts of the operands")]

mod converted_copy;
mod fusible;
mod fusion;
pub mod loop_nest;
mod operands;
pub mod prefetch;
mod strided_copy;
mod transpose;

use dispatch_runtime::{
    DType, Element, Error, ErrorKind, Operand, Operands, Operation, Operator, Promotion, Result, ShapeWord, Spec,
    Tensor, check_float8_operands,
};

pub use converted_copy::copy_converted;
use fusible::MapLoop;
pub use fusible::{BoundLoop, FusibleKernel, FusionRule, fusible};
pub use fusion::registers::{CheapOperation, scalar_functions};
use loop_nest::LoopNest;
use operands::CallOperands;
pub use operands::LoopReceiver;

/// The loops of an operator: a function that runs the loop of the given compute dtype. If there is no such loop, it returns the dtypes that
/// have one.
pub type Loops<'a, const N: usize> = &'a dyn Fn(DType, &mut LoopReceiver<'_, N>) -> Result<(), &'static [DType]>;

/// Computes the result of an elementwise operator in a fresh tensor.
#[inline]
pub fn compute_fresh<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<Tensor> {
    PointwiseOperator::for_operator::<O, O>().compute_fresh(inputs, loops)
}

/// Computes an intermediate tensor for an operator that is not itself elementwise. The inputs are the operator's first tensor arguments.
pub fn compute_with_promotion<O: Operation, const N: usize>(
    dtype: Promotion,
    inputs: [&Tensor; N],
    loops: Loops<'_, N>,
) -> Result<Tensor> {
    PointwiseOperator { dtype, names: operand_names::<O>(), dtypes: &[], float8: false, called_form: O::operator }
        .compute_fresh(inputs, loops)
}

/// Computes into `out` for an operator that has no promotion of its own. The inputs are the operator's first tensor arguments.
pub fn compute_with_promotion_into<O: Operation, const N: usize>(
    dtype: Promotion,
    out: &mut Tensor,
    inputs: [&Tensor; N],
    loops: Loops<'_, N>,
) -> Result<()> {
    PointwiseOperator { dtype, names: operand_names::<O>(), dtypes: &[], float8: false, called_form: O::operator }
        .compute_into("out", out, inputs, loops)
}

/// Computes into the caller's tensor `out`, which errors call `name`.
#[inline]
pub fn compute_into<O: Operation, const N: usize>(
    (name, out): (&'static str, &mut Tensor),
    inputs: [&Tensor; N],
    loops: Loops<'_, N>,
) -> Result<()> {
    PointwiseOperator::for_operator::<O, O>().compute_into(name, out, inputs, loops)
}

/// Computes into `this`, for the in-place form `F` of the operator. Each input that is `None` is `this`.
#[inline]
pub fn compute_in_place<O: Operation, F: Operation, const N: usize>(
    this: &mut Tensor,
    inputs: [Option<&Tensor>; N],
    loops: Loops<'_, N>,
) -> Result<()> {
    PointwiseOperator::for_operator::<O, F>().compute_in_place(this, inputs, loops)
}

/// The dtype rules and operand names of an elementwise operator, for one of its forms.
struct PointwiseOperator {
    dtype: Promotion,
    /// The names of the operands.
    names: &'static [&'static str],
    /// The dtypes that the operator's definition lists; empty if it lists none.
    dtypes: &'static [DType],
    /// Whether the operator computes with float8 dtypes.
    float8: bool,
    /// The form of the operator that was called.
    called_form: fn() -> &'static Operator,
}

impl PointwiseOperator {
    /// Returns the rules and names of the operator `O`; errors name its form `F`.
    #[inline(always)]
    fn for_operator<O: Operation, F: Operation>() -> &'static Self {
        const {
            let Some(ShapeWord::Pointwise { dtype, dtypes, float8, .. }) = O::SHAPE_WORD else {
                panic!("an elementwise kernel serves an operator with `shape = pointwise`");
            };
            &Self { dtype, names: operand_names::<O>(), dtypes, float8, called_form: F::operator }
        }
    }

    fn compute_fresh<const N: usize>(&self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Result<Tensor> {
        let (compute_dtype, are_alike) = self.compute_dtype_and_are_alike(&inputs)?;
        let dtype = self.dtype.result_dtype_from(compute_dtype);
        let mut out = if are_alike {
            inputs[0].allocate_like(dtype)?
        } else {
            self.result_spec(&inputs, dtype)?.on(inputs[0].device())?
        };
        let operands = Operands::borrow(&["out"], [&mut out], self.names, inputs)?;
        // SAFETY: if `are_alike` is true, the inputs are contiguous and have equal sizes, and the result was made like the first input.
        unsafe { self.run_loops(&operands, compute_dtype, are_alike, loops) }?;
        drop(operands);
        Ok(out)
    }

    fn compute_into<const N: usize>(
        &self,
        name: &'static str,
        out: &mut Tensor,
        inputs: [&Tensor; N],
        loops: Loops<'_, N>,
    ) -> Result<()> {
        let (compute_dtype, mut are_alike) = self.compute_dtype_and_are_alike(&inputs)?;
        let dtype = self.dtype.result_dtype_from(compute_dtype);
        // A resized handle replaces `out` after the write, so that a refused call changes nothing.
        let mut fitted = None;
        if !(are_alike && is_contiguous_like(out, inputs[0]) && dtype == out.dtype()) {
            let other = self.resize_to_result(name, out, &inputs, dtype)?;
            are_alike &= is_contiguous_like(&other, inputs[0]);
            fitted = Some(other);
        }
        let written = fitted.as_mut().unwrap_or(out);
        let operands = Operands::borrow(&[name], [written], self.names, inputs)?;
        // SAFETY: `are_alike` is true only if the inputs and the written tensor were checked.
        unsafe { self.run_loops(&operands, compute_dtype, are_alike, loops) }?;
        drop(operands);
        if let Some(fitted) = fitted {
            *out = fitted;
        }
        Ok(())
    }

    fn compute_in_place<const N: usize>(
        &self,
        this: &mut Tensor,
        inputs: [Option<&Tensor>; N],
        loops: Loops<'_, N>,
    ) -> Result<()> {
        // The checks come before the operands are borrowed: a refused call is not a write.
        let all = inputs.map(|input| input.unwrap_or(this));
        let (compute_dtype, are_alike) = self.compute_dtype_and_are_alike(&all)?;
        let are_alike = are_alike && is_contiguous_like(this, all[0]);
        if !(are_alike && self.dtype.result_dtype_from(compute_dtype) == this.dtype()) {
            self.resize_to_result("self", this, &all, self.dtype.result_dtype_from(compute_dtype))?;
        }
        let operands =
            Operands::borrow_in_place("self", this, self.names, |this| inputs.map(|input| input.unwrap_or(this)))?;
        // SAFETY: `are_alike` is true only if the inputs and `this` were checked.
        unsafe { self.run_loops(&operands, compute_dtype, are_alike, loops) }
    }

    /// Returns the dtype to compute in, and whether all inputs are contiguous tensors of one dtype and the same sizes.
    #[inline(always)]
    fn compute_dtype_and_are_alike<const N: usize>(&self, inputs: &[&Tensor; N]) -> Result<(DType, bool)> {
        let first = inputs[0];
        let are_alike = first.geometry().is_contiguous()
            && !first.is_number()
            && inputs[1..].iter().all(|input| input.dtype() == first.dtype() && is_contiguous_like(input, first));
        let compute_dtype = match self.dtype {
            Promotion::Common | Promotion::Real | Promotion::Bool if are_alike => first.dtype(),
            _ => self.compute_dtype(inputs),
        };
        if compute_dtype.is_float8() {
            check_float8_operands(compute_dtype, self.float8, self.names, inputs.iter().copied())
                .map_err(|error| Error::from(error).in_operator((self.called_form)().name()))?;
        }
        Ok((compute_dtype, are_alike))
    }

    // `compute_dtype` and `resize_to_result` are not inlined, so that the common case of equal dtypes and sizes has more registers.
    #[inline(never)]
    fn compute_dtype(&self, inputs: &[&Tensor]) -> DType {
        self.dtype.computation_dtype(inputs)
    }

    /// Returns a handle to `out`, resized to the result if that is allowed.
    #[inline(never)]
    fn resize_to_result(&self, name: &'static str, out: &Tensor, inputs: &[&Tensor], dtype: DType) -> Result<Tensor> {
        let mut fitted = out.clone();
        self.result_spec(inputs, dtype)?.fit_output(name, &mut fitted)?;
        Ok(fitted)
    }

    #[cold]
    fn unsupported_dtype_error(&self, dtype: DType, supported: &'static [DType]) -> Error {
        let supported = if self.dtypes.is_empty() { supported } else { self.dtypes };
        ErrorKind::UnsupportedDType { operator: (self.called_form)().name(), argument: "self", dtype, supported }.into()
    }

    fn result_spec(&self, inputs: &[&Tensor], dtype: DType) -> Result<Spec> {
        Spec::pointwise(inputs, dtype).map_err(|error| {
            let name = self.names.get(error.operand).copied().unwrap_or_default();
            error.for_argument(name).into()
        })
    }

    /// # Safety
    ///
    /// The safety conditions of [`LoopReceiver::new`] hold.
    #[inline(always)]
    unsafe fn run_loops<const N: usize>(
        &self,
        operands: &Operands<'_, 1, N>,
        compute_dtype: DType,
        are_alike: bool,
        loops: Loops<'_, N>,
    ) -> Result<()> {
        let run = |looped| {
            // SAFETY: guaranteed by the caller.
            let mut loop_input = unsafe { LoopReceiver::new(operands, compute_dtype, are_alike) };
            loops(looped, &mut loop_input)
        };
        if inputs_fit_i32(compute_dtype, operands.read().iter().map(Operand::dtype))
            && run(NARROW_INTEGER_COMPUTE_DTYPE).is_ok()
        {
            return Ok(());
        }
        run(crate::convert::compute_dtype(compute_dtype))
            .map_err(|supported| self.unsupported_dtype_error(compute_dtype, supported))
    }
}

/// The dtype that integers of at most 32 bits are computed in, if the operator has a loop for it. A vector holds more of them.
const NARROW_INTEGER_COMPUTE_DTYPE: DType = i32::DTYPE;

/// Returns whether the operands can be computed in [`NARROW_INTEGER_COMPUTE_DTYPE`]. Booleans qualify only if all inputs are, because the
/// truth of a wider integer depends on all its bits.
#[inline]
fn inputs_fit_i32(compute_dtype: DType, mut inputs: impl Iterator<Item = DType>) -> bool {
    match compute_dtype {
        DType::Bool => inputs.all(|input| input == DType::Bool),
        dtype => dtype.is_integral() && dtype.size() <= NARROW_INTEGER_COMPUTE_DTYPE.size(),
    }
}

/// Returns the names of an operator's tensor operands, for errors.
const fn operand_names<O: Operation>() -> &'static [&'static str] {
    match O::SHAPE_WORD {
        Some(ShapeWord::Pointwise { names, .. }) => names,
        _ => &["self", "self", "self"],
    }
}

/// Applies `f` to every element of operands that were borrowed. `common_dtype` is the dtype that the inputs promote to: if it is a 16-bit
/// float and `C` is not, inputs and results are rounded to it.
///
/// # Panics
///
/// Panics if an input does not broadcast to the sizes of the written operand.
#[inline]
pub(crate) fn run_function<C: Element, R: Element, const N: usize>(
    operands: &Operands<'_, 1, N>,
    common_dtype: DType,
    f: impl Fn([C; N]) -> R + Send + Sync,
) {
    let ([out], inputs) = (operands.written(), operands.read());
    let are_alike = out.geometry().is_contiguous()
        && inputs.iter().all(|input| {
            let geometry = input.geometry();
            input.dtype() == inputs[0].dtype() && geometry.is_contiguous() && geometry.same_sizes(out.geometry())
        });
    // SAFETY: `are_alike` is true only if the operands were checked.
    unsafe { CallOperands::new(operands, common_dtype, are_alike) }.run(C::DTYPE, R::DTYPE, &MapLoop::new(f));
}

/// Returns whether a tensor is contiguous and has the sizes of another.
#[inline(always)]
pub(crate) fn is_contiguous_like(tensor: &Tensor, other: &Tensor) -> bool {
    tensor.geometry().is_contiguous() && tensor.geometry().same_sizes(other.geometry())
}

/// Makes the loops of an elementwise operator: a list of types to compute in, and a function of elements.
#[macro_export]
macro_rules! loops {
    ([$($ty:ident)+] cheap $cheap:ident) => {
        move |dtype, loop_input: &mut $crate::elementwise::LoopReceiver<'_, _>| {
            $(if dtype == <$ty as ::dispatch_runtime::Element>::DTYPE {
                loop_input.run_cheap_operation::<$ty, _>($crate::elementwise::CheapOperation::$cheap, &[], $crate::elementwise::scalar_functions::$cheap);
                return Ok(());
            })+
            Err(&[$(<$ty as ::dispatch_runtime::Element>::DTYPE),+][..])
        }
    };
    ([$($ty:ident)+] $(keeps $kept:literal)? |$elements:pat_param| $body:expr) => {
        move |dtype, loop_input: &mut $crate::elementwise::LoopReceiver<'_, _>| {
            $(loop_input.keep_full_precision($kept);)?
            $(if dtype == <$ty as ::dispatch_runtime::Element>::DTYPE {
                loop_input.run::<$ty, _>(#[inline(always)] move |$elements: [$ty; _]| $body);
                return Ok(());
            })+
            Err(&[$(<$ty as ::dispatch_runtime::Element>::DTYPE),+][..])
        }
    };
}
pub use loops;

/// Defines kernels of elementwise operators, one per line: the operator, options, and either a function of elements or the name of a
/// `cheap` function. `by` makes the loops from the operator's arguments instead. Everything else comes from the operator's definition.
///
/// `[few]` adds a loop in `i32` for narrow integers. `[keeps 1]` names the operand that [keeps](LoopReceiver::keep_full_precision) its full
/// precision when the others are 16-bit floats. `[if check(this)]` checks the arguments before the loop.
#[macro_export]
macro_rules! elementwise {
    ($($name:ident $([$($option:tt)+])* =>
        $(cheap $cheap:ident)? $(by $loops:block)? $(|$elements:pat_param| $body:expr)?;)*
    ) => {
        $(::dispatch_runtime::op_row! {
            aten::$name => $crate::elementwise::elementwise_kernel,
            [$([$($option)+])*] [$(cheap $cheap)? $(by $loops)? $(|$elements| $body)?]
        })*
    };
}
pub use elementwise;

/// Defines the kernel of one line of `elementwise!`, and the rule by which it is fused with other kernels.
#[macro_export]
macro_rules! elementwise_kernel {
    ($name:ident $all:tt $operands:tt $types:tt [$($options:tt)*] $body:tt) => {
        $crate::elementwise::elementwise_kernel! { @options [$($options)*] $name $all $operands $types [] [] $body }
    };
    (@options [[few] $($options:tt)*] $name:ident $all:tt $operands:tt [$($ty:ty),+] $kept:tt $check:tt $body:tt) => {
        $crate::elementwise::elementwise_kernel! { @options [$($options)*] $name $all $operands [$($ty),+, i32] $kept $check $body }
    };
    (@options [[keeps $kept:literal] $($options:tt)*] $name:ident $all:tt $operands:tt $types:tt [] $check:tt $body:tt) => {
        $crate::elementwise::elementwise_kernel! { @options [$($options)*] $name $all $operands $types [$kept] $check $body }
    };
    (@options [[if $check:expr] $($options:tt)*] $name:ident $all:tt $operands:tt $types:tt $kept:tt [] $body:tt) => {
        $crate::elementwise::elementwise_kernel! { @options [$($options)*] $name $all $operands $types $kept [$check] $body }
    };
    (@options []
        $name:ident { $($argument:ident: $argument_ty:ty),+ } ($($tensor:ident),+; $($number:ident),*)
        $types:tt $kept:tt [$($check:expr)?] $body:tt
    ) => {
        const _: () = {
            const INPUT_COUNT: usize = [$(stringify!($tensor)),+].len();

            #[allow(unused_variables, clippy::unnecessary_wraps, clippy::used_underscore_binding, reason = "some kernels use no arguments")]
            #[::dispatch_runtime::op_impl(aten::$name, CPU, engine = $crate::elementwise)]
            fn $name(
                $($argument: $argument_ty),+
            ) -> ::dispatch_runtime::Result<
                impl Fn(::dispatch_runtime::DType, &mut $crate::elementwise::LoopReceiver<'_, INPUT_COUNT>)
                    -> ::std::result::Result<(), &'static [::dispatch_runtime::DType]> + use<>
            > {
                $($check;)?
                $crate::elementwise::elementwise_kernel! { @loops $types $kept ($($tensor),+; $($number),*) $body }
            }

            $crate::elementwise::fusible! {
                @rule $name
                ($crate::elementwise::FusibleKernel::Registered(stringify!($name), ::dispatch_runtime::Location::new(file!(), line!())))
                let loops = $name;
                |$($argument: $argument_ty),+| {
                    // The tensors hold zeros, so a check that reads elements refuses all calls that it might refuse.
                    <aten::$name>::__check($($argument),+).ok()?;
                    $crate::elementwise::BoundLoop::for_operator::<aten::$name, _>([$($tensor),+], &loops($($argument),+).ok()?)
                }
            }
        };
    };
    (@loops $types:tt [] $operands:tt [by $loops:block]) => { Ok($loops) };
    (@loops [$($ty:ty),+] [$($kept:literal)?] $operands:tt $body:tt) => {
        Ok(move |dtype, loop_input: &mut $crate::elementwise::LoopReceiver<'_, _>| {
            $(loop_input.keep_full_precision($kept);)?
            $(if dtype == <$ty as ::dispatch_runtime::Element>::DTYPE {
                $crate::elementwise::elementwise_kernel! { @run loop_input $ty, $operands $body }
                return Ok(());
            })+
            Err(&[$(<$ty as ::dispatch_runtime::Element>::DTYPE),+][..])
        })
    };
    (@run $loop_input:ident $ty:ty, ($($tensor:ident),+; $($number:ident),*) [|$elements:pat_param| $body:expr]) => {
        $(let $number = <$ty as $crate::compute::ComputeType>::from_scalar($number.into());)*
        $loop_input.run::<$ty, _>(#[inline(always)] move |$elements: [$ty; INPUT_COUNT]| $body);
    };
    (@run $loop_input:ident $ty:ty, ($($tensor:ident),+; $($number:ident),*) [cheap $cheap:ident]) => {
        let numbers: &[::dispatch_runtime::Scalar] = &[$($number.into()),*];
        $(let $number = <$ty as $crate::compute::ComputeType>::from_scalar($number.into());)*
        $loop_input.run_cheap_operation::<$ty, _>(
            $crate::elementwise::CheapOperation::$cheap,
            numbers,
            #[inline(always)] move |[$($tensor),+]: [$ty; INPUT_COUNT]| $crate::elementwise::scalar_functions::$cheap([$($tensor),+ $(, $number)*]),
        );
    };
}
pub use elementwise_kernel;

#[cfg(test)]
mod tests;
