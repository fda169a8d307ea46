//! Rules for fusion of elementwise kernels: the loop over one row of a kernel, and the dtypes of its inputs and results.
//!
//! The loop is the kernel's own. A fused [pass](super::fusion) that runs it on parts of the operands therefore computes the same results as
//! the kernel.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use dispatch_runtime::{DType, Element, KeySet, Location, Operation, Operator, Scalar, Tensor, Value, keys};

use super::operands::{NarrowRounding, OperandConversion};
use super::{CheapOperation, LoopReceiver, Loops, PointwiseOperator};
use crate::convert::{ConvertFn, conversion_function};
use crate::math::vectorised_loop;

/// A loop over contiguous elements of fixed input and result types.
pub(super) trait ContiguousLoop: Send + Sync {
    /// Computes `count` elements.
    ///
    /// # Safety
    ///
    /// There are as many inputs as the loop takes, each of `count` elements. `out` has room for `count` results and overlaps no input.
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize);
}

/// A loop that applies a function from elements of `C` to elements of `R`.
pub(super) struct MapLoop<C, R, F, const N: usize> {
    f: F,
    types: PhantomData<fn([C; N]) -> R>,
}

impl<C: Element, R: Element, F: Fn([C; N]) -> R + Send + Sync, const N: usize> MapLoop<C, R, F, N> {
    #[inline(always)]
    pub(super) fn new(f: F) -> Self {
        Self { f, types: PhantomData }
    }
}

impl<C: Element, R: Element, F: Fn([C; N]) -> R + Send + Sync, const N: usize> ContiguousLoop for MapLoop<C, R, F, N> {
    #[inline(always)]
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        vectorised_loop::<C, F, _>(
            &self.f,
            out,
            inputs.as_ptr(),
            count,
            #[inline(always)]
            // SAFETY: guaranteed by the caller.
            |f, out, inputs, count| unsafe { apply_to_each(f, out, *inputs.cast::<[*const u8; N]>(), count) },
        );
    }
}

/// Applies `f` to every element of contiguous inputs.
///
/// # Safety
///
/// Every input has `count` contiguous elements of `C`. `out` has room for `count` elements of `R` and overlaps no input.
#[inline(always)]
unsafe fn apply_to_each<C: Element, R, const N: usize>(
    f: &impl Fn([C; N]) -> R,
    out: *mut u8,
    mut inputs: [*const u8; N],
    count: usize,
) {
    // SAFETY: guaranteed by the caller.
    let out = unsafe { std::slice::from_raw_parts_mut(out.cast::<MaybeUninit<R>>(), count) };
    for out in out {
        // Explicit loops: `array::map` would add many functions for the compiler to every operator.
        let mut elements = [const { MaybeUninit::<C>::uninit() }; N];
        let mut k = 0;
        while k < N {
            // SAFETY: guaranteed by the caller.
            elements[k] = unsafe { inputs[k].cast::<MaybeUninit<C>>().read() };
            inputs[k] = inputs[k].wrapping_add(size_of::<C>());
            k += 1;
        }
        // SAFETY: all elements of the array were written.
        out.write(f(unsafe { (&raw const elements).cast::<[C; N]>().read() }));
    }
}

/// A loop that converts elements to another dtype.
struct ConversionLoop {
    convert: ConvertFn,
    /// The bytes between elements, of the input and of the result.
    strides: [isize; 2],
}

impl ContiguousLoop for ConversionLoop {
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        let [from, to] = self.strides;
        // SAFETY: guaranteed by the caller; these are the strides of contiguous elements.
        unsafe { (self.convert)(inputs[0], from, out, to, count) };
    }
}

/// The loop of a kernel, over contiguous elements of the dtype that it computes in.
pub struct KernelLoop {
    /// The dtype of the loop's inputs.
    pub(super) compute_dtype: DType,
    pub(super) result_dtype: DType,
    /// The operation that a run in registers can use instead of the loop, with its scalar arguments.
    pub(super) cheap: Option<(CheapOperation, Vec<Scalar>)>,
    pub(super) run: Box<dyn ContiguousLoop>,
}

impl KernelLoop {
    #[cold]
    pub(super) fn new(compute_dtype: DType, result_dtype: DType, kernel_loop: impl ContiguousLoop + 'static) -> Self {
        Self { compute_dtype, result_dtype, cheap: None, run: Box::new(kernel_loop) }
    }
}

/// A kernel's loop, bound to all arguments of a call except the tensors' elements.
pub struct BoundLoop {
    pub(super) kernel_loop: KernelLoop,
    /// The conversion of each input for the loop.
    pub(super) inputs: Vec<OperandConversion>,
    /// The conversion of the loop's results.
    pub(super) out: OperandConversion,
    pub(super) dtype: DType,
}

impl BoundLoop {
    /// Returns the loop of the operator `O` for a fresh result; `None` if it has no loop for these dtypes.
    pub fn for_operator<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Self> {
        PointwiseOperator::for_operator::<O, O>().bind_loop(inputs, loops)
    }

    /// Returns a loop that converts elements to another dtype.
    pub fn for_conversion(from: DType, to: DType) -> Self {
        let strides = [from, to].map(|dtype| dtype.size().cast_signed());
        let kernel_loop = KernelLoop::new(from, to, ConversionLoop { convert: conversion_function(from, to), strides });
        let (path, out) =
            (OperandConversion::for_input(from, from, None, false), OperandConversion::for_result(to, to, None));
        Self { kernel_loop, inputs: vec![path], out, dtype: to }
    }
}

impl PointwiseOperator {
    fn bind_loop<const N: usize>(&self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<BoundLoop> {
        let common = self.dtype.computation_dtype(&inputs);
        let dtype = self.dtype.result_dtype_from(common);
        let kernel_loop = |compute_dtype| {
            let (mut kernel_loop, mut kept_operand) = (None, None);
            loops(compute_dtype, &mut LoopReceiver::CaptureLoop(&mut kernel_loop, &mut kept_operand)).ok()?;
            kernel_loop.map(|kernel_loop| (kernel_loop, kept_operand))
        };
        let inputs_fit_i32 = super::inputs_fit_i32(common, inputs.iter().map(|input| input.dtype()));
        let narrow_loop = if inputs_fit_i32 { kernel_loop(super::NARROW_INTEGER_COMPUTE_DTYPE) } else { None };
        let (kernel_loop, kept_operand) = narrow_loop.or_else(|| kernel_loop(crate::convert::compute_dtype(common)))?;
        let compute_dtype = kernel_loop.compute_dtype;
        let rounding = NarrowRounding::for_dtype(compute_dtype, common);
        let path = |(i, input): (usize, &&Tensor)| {
            let is_kept = kept_operand == Some(i) && input.geometry().count() == 1;
            OperandConversion::for_input(input.dtype(), compute_dtype, rounding, is_kept)
        };
        let inputs = inputs.iter().enumerate().map(path).collect();
        let out = OperandConversion::for_result(
            dtype,
            kernel_loop.result_dtype,
            rounding.filter(|_| kernel_loop.result_dtype == compute_dtype),
        );
        Some(BoundLoop { kernel_loop, inputs, out, dtype })
    }
}

/// The rule by which this backend fuses an operator's kernel into a pass.
pub struct FusionRule {
    kernel: FusibleKernel,
    /// Binds the kernel's loop to arguments; `None` if it has no such loop. Each tensor has the dtype and rank of the later one, a size of
    /// one in the same dimensions, and only zeros.
    bind: fn(&mut [Value]) -> Option<BoundLoop>,
}

/// The kernel that a fusion rule belongs to.
#[derive(Clone, Copy)]
pub enum FusibleKernel {
    /// The kernel that was registered with the rule: its name, and the location of both.
    Registered(&'static str, Location),
    /// The body of the operator's definition.
    DefinitionBody,
}

impl FusionRule {
    /// Returns the fusion rule of a kernel.
    pub const fn new(kernel: FusibleKernel, bind: fn(&mut [Value]) -> Option<BoundLoop>) -> Self {
        Self { kernel, bind }
    }

    /// Returns the loop of a call, if the call would run the kernel that the rule belongs to.
    pub(super) fn bind_call(operator: &Operator, arguments: &mut [Value]) -> Option<BoundLoop> {
        let rule = operator.rule::<Self>()?;
        let call = operator.explain_redispatch(KeySet::from(keys::CPU), &[]);
        let site = call.winner?;
        let is_known = match rule.kernel {
            FusibleKernel::Registered(name, location) => {
                (site.key, site.kernel, site.location) == (keys::CPU, name, location)
            }
            FusibleKernel::DefinitionBody => site.location == call.location,
        };
        if is_known { (rule.bind)(arguments) } else { None }
    }
}

/// Registers a CPU kernel with its fusion rule: first the kernel, then `|this: &Tensor, min: Option<&Tensor>| ..`, which binds the
/// arguments to the kernel's loop. If the kernel is the body of the operator's definition, only the rule is given:
/// `aten::name |this: &Tensor| ..`.
#[macro_export]
macro_rules! fusible {
    (#[op_impl(aten::$name:ident, $($flags:tt)+)] fn $kernel:ident $arguments:tt -> Result<()> { $($body:tt)+ } $($rule:tt)+) => {
        #[::dispatch_runtime::op_impl(aten::$name, $($flags)+)]
        fn $kernel $arguments -> ::dispatch_runtime::Result<()> { $($body)+ }

        $crate::elementwise::fusible! {
            @rule $name
            ($crate::elementwise::FusibleKernel::Registered(stringify!($kernel), ::dispatch_runtime::Location::new(file!(), line!())))
            $($rule)+
        }
    };
    (aten::$name:ident $($rule:tt)+) => {
        $crate::elementwise::fusible! { @rule $name ($crate::elementwise::FusibleKernel::DefinitionBody) $($rule)+ }
    };
    (@rule $name:ident $kernel:tt $(let $loops:ident = $function:ident;)? |$($argument:ident: $ty:ty),+| $body:expr) => {
        const _: () = {
            static __FUSION_RULE: $crate::elementwise::FusionRule = $crate::elementwise::FusionRule::new(
                $kernel,
                |arguments| {
                    // Before the arguments, as an argument may have the same name as the operator.
                    $(let $loops = $function;)?
                    let [$($argument),+] = arguments else { return None };
                    $(let $argument: $ty = ::dispatch_runtime::Argument::from_value($argument)?;)+
                    $body
                },
            );
            static __RULE_RECORD: ::dispatch_runtime::RuleRecord = ::dispatch_runtime::RuleRecord::new(
                <aten::$name as ::dispatch_runtime::Operation>::operator,
                &__FUSION_RULE,
                ::dispatch_runtime::Location::new(file!(), line!()),
            );
            ::dispatch_runtime::__submit! { ::dispatch_runtime::__private::Record::Rule(&__RULE_RECORD) }
        };
    };
}
pub use fusible;
