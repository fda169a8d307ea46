//! What is known of an elementwise kernel apart from any call: the loop over one row, and the dtypes on either side of it.
//!
//! It is the kernel's own loop, so that whoever runs it by parts, as a [pass](super::fusion) does, gets what the kernel gives.
#![expect(unsafe_code, reason = "one loop over slices of several operands")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use dispatch_runtime::{DType, Element, KeySet, Location, Operation, Operator, Scalar, Tensor, Value, keys};

use super::operands::{ElementPath, Narrow};
use super::{Cheap, LoopInput, Loops, Rule};
use crate::convert::{Convert, conversion};
use crate::math::vectorised_loop;

/// A loop over elements that lie side by side, in the types that it takes and gives.
pub(super) trait Loop: Send + Sync {
    /// Computes `count` elements.
    ///
    /// # Safety
    ///
    /// There are as many inputs as the loop takes, each of `count` elements, and room for as many results, which are in no input.
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize);
}

/// A function of elements of `C` that gives elements of `R`, as a loop.
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
            // SAFETY: as the caller says.
            |f, out, inputs, count| unsafe { each(f, out, *inputs.cast::<[*const u8; N]>(), count) },
        );
    }
}

/// Applies `f` to every element.
///
/// # Safety
///
/// There are `count` elements of `C` at every input, side by side, and room for as many of `R`, which are in no input.
#[inline(always)]
unsafe fn each<C: Element, R, const N: usize>(
    f: &impl Fn([C; N]) -> R,
    out: *mut u8,
    mut inputs: [*const u8; N],
    count: usize,
) {
    // SAFETY: as the caller says.
    let out = unsafe { std::slice::from_raw_parts_mut(out.cast::<MaybeUninit<R>>(), count) };
    for out in out {
        // Plain loops, as `array::map` is many functions for the compiler, and each operator has this one.
        let mut elements = [const { MaybeUninit::<C>::uninit() }; N];
        let mut k = 0;
        while k < N {
            // SAFETY: as the caller says.
            elements[k] = unsafe { inputs[k].cast::<MaybeUninit<C>>().read() };
            inputs[k] = inputs[k].wrapping_add(size_of::<C>());
            k += 1;
        }
        // SAFETY: all were written.
        out.write(f(unsafe { (&raw const elements).cast::<[C; N]>().read() }));
    }
}

/// Elements in another dtype, as a loop.
struct Conversion {
    convert: Convert,
    /// The bytes between elements, before and after.
    steps: [isize; 2],
}

impl Loop for Conversion {
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        let [from, to] = self.steps;
        // SAFETY: as the caller says; these are the steps of elements that lie side by side.
        unsafe { (self.convert)(inputs[0], from, out, to, count) };
    }
}

/// The loop of a kernel, over elements that lie side by side in the dtype that it computes in.
pub struct KernelLoop {
    /// What the loop takes.
    pub(super) computed: DType,
    pub(super) results: DType,
    /// What it is for a run in registers, with its numbers.
    pub(super) cheap: Option<(Cheap, Vec<Scalar>)>,
    pub(super) run: Box<dyn Loop>,
}

impl KernelLoop {
    #[cold]
    pub(super) fn new(computed: DType, results: DType, row: impl Loop + 'static) -> Self {
        Self { computed, results, cheap: None, run: Box::new(row) }
    }
}

/// A kernel's loop with the arguments of one call bound to it, but for elements.
pub struct Bound {
    pub(super) row: KernelLoop,
    /// How elements of each input reach the loop.
    pub(super) inputs: Vec<ElementPath>,
    /// How results leave it.
    pub(super) out: ElementPath,
    pub(super) dtype: DType,
}

impl Bound {
    /// The loop that a fresh result of `O` is computed by; none where it has none for these dtypes.
    pub fn of<O: Operation, const N: usize>(inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Self> {
        Rule::of::<O, O>().bound(inputs, loops)
    }

    /// Elements in another dtype.
    pub fn conversion(from: DType, to: DType) -> Self {
        let steps = [from, to].map(|dtype| dtype.size().cast_signed());
        let row = KernelLoop::new(from, to, Conversion { convert: conversion(from, to), steps });
        let (way, out) = (ElementPath::of_input(from, from, None, false), ElementPath::of_result(to, to, None));
        Self { row, inputs: vec![way], out, dtype: to }
    }
}

impl Rule {
    fn bound<const N: usize>(&self, inputs: [&Tensor; N], loops: Loops<'_, N>) -> Option<Bound> {
        let common = self.dtype.computes_in(&inputs);
        let dtype = self.dtype.gives(common);
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

/// What this backend knows of an operator that can be a part of a pass.
pub struct Fusible {
    kernel: Kernel,
    /// The loop for these arguments, whose tensors are of the dtypes and ranks that there will be, of one element where these are, and of zeros.
    bind: fn(&mut [Value]) -> Option<Bound>,
}

/// The kernel that a loop stands for.
#[derive(Clone, Copy)]
pub enum Kernel {
    /// The one that was registered with the rule: its name, and where both are.
    Here(&'static str, Location),
    /// The body of the operator's definition.
    Body,
}

impl Fusible {
    /// The rule of a kernel.
    pub const fn new(kernel: Kernel, bind: fn(&mut [Value]) -> Option<Bound>) -> Self {
        Self { kernel, bind }
    }

    /// The loop of a call, if its kernel would be the one that the rule stands for.
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

/// A kernel of the CPU's with the rule of how its arguments are bound to its loop: the kernel, and then
/// `|this: &Tensor, min: Option<&Tensor>| ..`. If the
/// kernel is the body of the operator's definition, there is the rule alone: `aten::name |this: &Tensor| ..`.
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
                    // An argument may be called as its operator is.
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
