//! Rules for fusion of elementwise kernels: the loop over one row of a kernel, and the dtypes of its inputs and results.
//!
//! The loop is the kernel's own. A fused [pass](super::fusion) that runs it on parts of the operands therefore computes the same results as
//! the kernel.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use dispatch_runtime::{DType, Element, KeySet, Location, Operation, Operator, Scalar, Tensor, Value, keys};

use super::operands::{ElementPath, Narrow};
use super::{Cheap, LoopInput, Loops, Rule};
use crate::convert::{Convert, conversion};
use crate::math::vectorised_loop;

/// A loop over contiguous elements of fixed input and result types.
pub(super) trait Loop: Send + Sync {
    /// Computes `count` elements.
    ///
    /// # Safety
    ///
    /// There are as many inputs as the loop takes, each of `count` elements. `out` has room for `count` results and overlaps no input.
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize);
}

/// A loop that applies a function from elements of `C` to elements of `R`.
pub(super) struct ElementFn<C, R, F, const N: usize> {
    f: F,
    types: PhantomData<fn([C; N]) -> R>,
}

impl<C: Element, R: Element, F: Fn([C; N]) -> R + Send + Sync, const N: usize> ElementFn<C, R, F, N> {
    #[inline(always)]
    pub(super) fn new(f: F) -> Self {
        Self { f, types: PhantomData }
    }
}

impl<C: Element, R: Element, F: Fn([C; N]) -> R + Send + Sync, const N: usize> Loop for ElementFn<C, R, F, N> {
    #[inline(always)]
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        vectorised_loop::<C, F, _>(
            &self.f,
            out,
            inputs.as_ptr(),
            count,
            #[inline(always)]
            // SAFETY: guaranteed by the caller.
            |f, out, inputs, count| unsafe { each(f, out, *inputs.cast::<[*const u8; N]>(), count) },
        );
    }
}

/// Applies `f` to every element.
///
/// # Safety
///
/// Every input has `count` contiguous elements of `C`. `out` has room for `count` elements of `R` and overlaps no input.
#[inline(always)]
unsafe fn each<C: Element, R, const N: usize>(
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
        // SAFETY: all were written.
        out.write(f(unsafe { (&raw const elements).cast::<[C; N]>().read() }));
    }
}

/// A loop that converts elements to another dtype.
struct Conversion {
    convert: Convert,
    /// The bytes between elements, of the input and of the result.
    steps: [isize; 2],
}

impl Loop for Conversion {
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        let [from, to] = self.steps;
        // SAFETY: guaranteed by the caller; these are the strides of contiguous elements.
        unsafe { (self.convert)(inputs[0], from, out, to, count) };
    }
}

/// The loop of a kernel, over contiguous elements of the dtype that it computes in.
pub struct KernelLoop {
    /// The dtype of the loop's inputs.
    pub(super) computed: DType,
    pub(super) results: DType,
    /// The operation that a run in registers can use instead of the loop, with its scalar arguments.
    pub(super) cheap: Option<(Cheap, Vec<Scalar>)>,
    pub(super) run: Box<dyn Loop>,
}

impl KernelLoop {
    #[cold]
    pub(super) fn new(computed: DType, results: DType, row: impl Loop + 'static) -> Self {
        Self { computed, results, cheap: None, run: Box::new(row) }
    }
}

/// A kernel's loop, bound to all arguments of a call except the tensors' elements.
pub struct Bound {
    pub(super) row: KernelLoop,
    /// The conversion of each input for the loop.
    pub(super) inputs: Vec<ElementPath>,
    /// The conversion of the loop's results.
    pub(super) out: ElementPath,
    pub(super) dtype: DType,
}

impl Bound {
    /// Returns the loop for a fresh result of `O`; `None` if it has no loop for these dtypes.
    pub fn of<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Self> {
        Rule::of::<O, O>().bound(inputs, loops)
    }

    /// Returns a loop that converts elements to another dtype.
    pub fn conversion(from: DType, to: DType) -> Self {
        let steps = [from, to].map(|dtype| dtype.size().cast_signed());
        let row = KernelLoop::new(from, to, Conversion { convert: conversion(from, to), steps });
        let (way, out) = (ElementPath::of_input(from, from, None, false), ElementPath::of_result(to, to, None));
        Self { row, inputs: vec![way], out, dtype: to }
    }
}

impl Rule {
    fn bound<const N: usize>(&self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Bound> {
        let common = self.dtype.compute_dtype(&inputs);
        let dtype = self.dtype.result_dtype_from(common);
        let row = |computed| {
            let (mut row, mut kept) = (None, None);
            loops(computed, &mut LoopInput::Capture(&mut row, &mut kept)).ok()?;
            row.map(|row| (row, kept))
        };
        let are_few = super::are_few(common, inputs.iter().map(|input| input.dtype()));
        let few = if are_few { row(super::FEW) } else { None };
        let (row, kept) = few.or_else(|| row(crate::convert::computed_in(common)))?;
        let computed = row.computed;
        let narrow = Narrow::between(computed, common);
        let way = |(i, input): (usize, &&Tensor)| {
            let is_kept = kept == Some(i) && input.geometry().count() == 1;
            ElementPath::of_input(input.dtype(), computed, narrow, is_kept)
        };
        let inputs = inputs.iter().enumerate().map(way).collect();
        let out = ElementPath::of_result(dtype, row.results, narrow.filter(|_| row.results == computed));
        Some(Bound { row, inputs, out, dtype })
    }
}

/// The rule by which this backend fuses an operator's kernel into a pass.
pub struct Fusible {
    kernel: Kernel,
    /// Binds the kernel's loop to arguments; `None` if it has no such loop. Each tensor has the dtype and rank of the later one, a size of
    /// one in the same dimensions, and only zeros.
    bind: fn(&mut [Value]) -> Option<Bound>,
}

/// The kernel that a fusion rule belongs to.
#[derive(Clone, Copy)]
pub enum Kernel {
    /// The kernel that was registered with the rule: its name, and the location of both.
    Here(&'static str, Location),
    /// The body of the operator's definition.
    Body,
}

impl Fusible {
    /// Returns a rule for a kernel.
    pub const fn new(kernel: Kernel, bind: fn(&mut [Value]) -> Option<Bound>) -> Self {
        Self { kernel, bind }
    }

    /// Returns the loop of a call, if the call would run the kernel that the rule belongs to.
    pub(super) fn bound(operator: &Operator, arguments: &mut [Value]) -> Option<Bound> {
        let known = operator.rule::<Self>()?;
        let call = operator.explain_redispatch(KeySet::from(keys::CPU), &[]);
        let site = call.winner?;
        let is_known = match known.kernel {
            Kernel::Here(name, location) => (site.key, site.kernel, site.location) == (keys::CPU, name, location),
            Kernel::Body => site.location == call.location,
        };
        if is_known { (known.bind)(arguments) } else { None }
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
            ($crate::elementwise::Kernel::Here(stringify!($kernel), ::dispatch_runtime::Location::new(file!(), line!())))
            $($rule)+
        }
    };
    (aten::$name:ident $($rule:tt)+) => {
        $crate::elementwise::fusible! { @rule $name ($crate::elementwise::Kernel::Body) $($rule)+ }
    };
    (@rule $name:ident $kernel:tt $(let $loops:ident = $function:ident;)? |$($argument:ident: $ty:ty),+| $body:expr) => {
        const _: () = {
            static __FUSIBLE: $crate::elementwise::Fusible = $crate::elementwise::Fusible::new(
                $kernel,
                |arguments| {
                    // Before the arguments, as an argument may have the same name as the operator.
                    $(let $loops = $function;)?
                    let [$($argument),+] = arguments else { return None };
                    $(let $argument: $ty = ::dispatch_runtime::Argument::from_value($argument)?;)+
                    $body
                },
            );
            static __RULE: ::dispatch_runtime::RuleRecord = ::dispatch_runtime::RuleRecord::new(
                <aten::$name as ::dispatch_runtime::Operation>::operator,
                &__FUSIBLE,
                ::dispatch_runtime::Location::new(file!(), line!()),
            );
            ::dispatch_runtime::__submit! { ::dispatch_runtime::__private::Record::Rule(&__RULE) }
        };
    };
}
pub use fusible;
