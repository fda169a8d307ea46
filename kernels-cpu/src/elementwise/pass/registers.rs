//! Cheap operations, one after another on elements that stay in registers.
//!
//! A loop that adds a number spends its time on loads and stores, even in the nearest cache. Where such calls follow each other they become
//! a *run*: a block of elements is loaded, goes through all operations, and is stored. What to do is looked up once for a block and an
//! operation. Each does to elements what the operator's own loop does, as both call the same function of this file, and rounds them to the
//! dtype of its result.

use std::array::from_fn;
use std::marker::PhantomData;
use std::slice;

use dispatch_runtime::{Arithmetic, DType};
use pulp::bytemuck::{self, Pod};
use pulp::{Arch, Simd, WithSimd};

use crate::compute::{Compute, Field, Fraction, Ordered};
use crate::convert::{rounded_to_bf16, rounded_to_f16};
use crate::elementwise::row::Loop;
use crate::inlined::inlined;
use crate::math::Real;

/// Functions of elements and numbers that runs know, and which of what they take can be the elements in registers.
macro_rules! cheap {
    ($($name:ident<$bound:path>[$($element:ident),+] at $($place:literal)+ => $body:expr;)*) => {
        /// An operation that runs know. Its tensors come first, then its numbers.
        #[derive(Clone, Copy, PartialEq)]
        #[expect(non_camel_case_types, reason = "named as the functions in `lane` are")]
        pub(crate) enum Cheap { $($name),* }

        /// What the operations do with elements, here and in operators' own loops.
        pub(crate) mod lane {
            use super::*;

            $(#[inline(always)]
            pub(crate) fn $name<T: $bound>([$($element),+]: [T; [$(stringify!($element)),+].len()]) -> T { $body })*
        }

        impl Cheap {
            /// Whether the elements in registers can be in this place.
            pub(super) fn takes(self, place: usize) -> bool {
                match self {
                    $(Self::$name => [$($place),+].contains(&place),)*
                }
            }

            /// How many elements it takes, numbers too.
            fn arity(self) -> usize {
                match self {
                    $(Self::$name => [$(stringify!($element)),+].len(),)*
                }
            }
        }

        impl<T: Number> Work<'_, T> {
            /// Brings a block through an operation.
            ///
            /// # Safety
            ///
            /// As [`block`](Self::block).
            #[inline(always)]
            unsafe fn operate<S: Simd, const W: usize>(&self, x: &mut Block<S, T, W>, operation: &Operation, start: usize) {
                match (operation.cheap, operation.place) {
                    $($(
                        // SAFETY: as the caller says.
                        (Cheap::$name, $place) => unsafe { self.apply::<S, _, W, $place>(x, operation.operands, start, lane::$name) },
                    )+)*
                    _ => debug_assert!(false, "an operation takes the elements in a place that it knows"),
                }
            }
        }
    };
}

cheap! {
    plus<Arithmetic>[a, b] at 0 1 => a.plus(b);
    minus<Arithmetic>[a, b] at 0 1 => a.minus(b);
    plus_times<Arithmetic>[a, b, factor] at 0 1 => a.plus(b.times(factor));
    minus_times<Arithmetic>[a, b, factor] at 0 1 => a.minus(b.times(factor));
    times_from<Arithmetic>[a, b, factor] at 0 1 => b.minus(a.times(factor));
    times<Arithmetic>[a, b] at 0 1 => a.times(b);
    over<Field>[a, b] at 0 1 => a.over(b);
    negated<Compute>[x] at 0 => x.negated();
    magnitude<Ordered>[x] at 0 => x.magnitude();
    root<Real>[x] at 0 => Real::sqrt(x);
    reciprocal<Real>[x] at 0 => Real::reciprocal(x);
    larger<Ordered>[a, b] at 0 1 => a.larger(b);
    smaller<Ordered>[a, b] at 0 1 => a.smaller(b);
    between<Ordered>[x, low, high] at 0 => x.larger(low).smaller(high);
    positive<Ordered>[x] at 0 => x.larger(T::ZERO);
    leaking<Fraction>[x, slope] at 0 => if x > T::near(0.0) { x } else { x * slope };
    beyond<Ordered>[x, threshold, value] at 0 => if x <= threshold { value } else { x };
}

/// One operation of a run.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) cheap: Cheap,
    /// Which of its elements are those in registers.
    pub(super) place: usize,
    /// The first of its others, among the inputs of the run.
    pub(super) operands: usize,
}

/// The loop of a run of this dtype, from the first of the inputs on; none where runs do not know the dtype. A `uniform` input is one element,
/// which is repeated.
pub(super) fn run(dtype: DType, operations: Vec<Operation>, uniform: &[bool]) -> Option<Box<dyn Loop>> {
    Some(match dtype {
        DType::F32 => Box::new(Run::<f32>::new(operations, uniform, Rounding::None)),
        DType::F64 => Box::new(Run::<f64>::new(operations, uniform, Rounding::None)),
        DType::BF16 => Box::new(Run::<f32>::new(operations, uniform, Rounding::BF16)),
        DType::F16 => Box::new(Run::<f32>::new(operations, uniform, Rounding::F16)),
        _ => return None,
    })
}

/// The narrow dtype that the result of each operation is rounded to.
#[derive(Clone, Copy)]
enum Rounding {
    None,
    BF16,
    F16,
}

/// Operations whose operands are among the inputs of a call.
struct Run<T> {
    operations: Vec<Operation>,
    /// The bytes between elements of each input.
    steps: Vec<usize>,
    rounding: Rounding,
    numbers: PhantomData<fn() -> T>,
}

impl<T: Number> Run<T> {
    fn new(operations: Vec<Operation>, uniform: &[bool], rounding: Rounding) -> Self {
        let are_inputs = |operation: &Operation| {
            let Operation { cheap, place, operands } = *operation;
            cheap.takes(place) && operands > 0 && operands + cheap.arity() <= uniform.len() + 1
        };
        assert!(!uniform.is_empty() && operations.iter().all(are_inputs), "an operand is no input of the run");
        let step = |uniform: &bool| if *uniform { 0 } else { size_of::<T>() };
        Self { operations, steps: uniform.iter().map(step).collect(), rounding, numbers: PhantomData }
    }
}

impl<T: Number> Loop for Run<T> {
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        assert_eq!(inputs.len(), self.steps.len(), "a run has one step for each input");
        Arch::new().dispatch(Work { run: self, inputs, out, count });
    }
}

/// A number in a register.
trait Number: Field + Fraction + Ordered + Pod {
    type Vector<S: Simd>: Pod;

    fn narrow<S: Simd, const W: usize>(block: &mut Block<S, Self, W>, rounding: Rounding);
}

inlined! {
    impl Number for f32 {
        type Vector[S: Simd] = S::f32s;
        fn narrow[S: Simd, const W: usize](block: &mut Block<S, Self, W>, rounding: Rounding) = {
            match rounding {
                Rounding::None => {}
                Rounding::BF16 => each::<S, Self, W>(block, rounded_to_bf16),
                Rounding::F16 => each::<S, Self, W>(block, rounded_to_f16),
            }
        };
    }

    impl Number for f64 {
        type Vector[S: Simd] = S::f64s;
        fn narrow[S: Simd, const W: usize](_block: &mut Block<S, Self, W>, _rounding: Rounding) = {};
    }
}

/// How many vectors are in a block: enough to hide how long an operation takes, few enough to leave registers for operands.
const WIDTH: usize = 8;

type Block<S, T, const W: usize> = [<T as Number>::Vector<S>; W];

/// A run on the elements of one call: `count` elements at every input, or as many of one, and room for as many results. The operands of
/// all operations are among the inputs.
struct Work<'a, T> {
    run: &'a Run<T>,
    inputs: &'a [*const u8],
    out: *mut u8,
    count: usize,
}

impl<T: Number> WithSimd for Work<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let length = size_of::<Block<S, T, WIDTH>>() / size_of::<T>();
        let Some(last) = self.count.checked_sub(length) else {
            return self.few();
        };
        let mut start = 0;
        while start < last {
            // SAFETY: there are `count` elements at every end, and an operation was given its operands.
            unsafe { self.block::<S, WIDTH>(start) };
            start += length;
        }
        // The last block may begin inside of the one before it: the results are in no input, so they are computed anew.
        // SAFETY: as above.
        unsafe { self.block::<S, WIDTH>(last) };
    }
}

impl<T: Number> Work<'_, T> {
    /// Does less than a block.
    #[inline(never)]
    fn few(&self) {
        for start in 0..self.count {
            // SAFETY: there are `count` elements at every end, and an operation was given its operands.
            unsafe { self.block::<pulp::Scalar, 1>(start) };
        }
    }

    /// # Safety
    ///
    /// There is a block from `start` on at every end, and all operands are among the inputs.
    #[inline(always)]
    unsafe fn block<S: Simd, const W: usize>(&self, start: usize) {
        // SAFETY: as the caller says; the results are in no input.
        unsafe {
            let from = self.input(0, start).cast::<T::Vector<S>>();
            let mut x = [from.read_unaligned(); W];
            unrolled::<W>(
                #[inline(always)]
                |at| x[at] = from.add(at).read_unaligned(),
            );
            for operation in &self.run.operations {
                self.operate::<S, W>(&mut x, operation, start);
                T::narrow::<S, W>(&mut x, self.run.rounding);
            }
            let out = self.out.add(start * size_of::<T>()).cast::<T::Vector<S>>();
            unrolled::<W>(
                #[inline(always)]
                |at| out.add(at).write_unaligned(x[at]),
            );
        }
    }

    /// Applies `f` to a block, in this place among what it takes.
    ///
    /// # Safety
    ///
    /// As [`block`](Self::block).
    #[inline(always)]
    unsafe fn apply<S: Simd, const N: usize, const W: usize, const PLACE: usize>(
        &self,
        x: &mut Block<S, T, W>,
        operands: usize,
        start: usize,
        f: impl Fn([T; N]) -> T,
    ) {
        // SAFETY: as the caller says.
        unsafe {
            let from: [*const T::Vector<S>; N] = from_fn(
                #[inline(always)]
                |i| self.input(if i == PLACE { 0 } else { operands + i - usize::from(i > PLACE) }, start).cast(),
            );
            unrolled::<W>(
                #[inline(always)]
                |at| {
                    let all = from_fn(
                        #[inline(always)]
                        |i| if i == PLACE { x[at] } else { from[i].add(at).read_unaligned() },
                    );
                    x[at] = lanes(all, &f);
                },
            );
        }
    }

    /// # Safety
    ///
    /// There is such an input.
    #[inline(always)]
    unsafe fn input(&self, input: usize, start: usize) -> *const u8 {
        // SAFETY: as the caller says, and there are as many steps.
        unsafe { self.inputs.get_unchecked(input).wrapping_add(start * self.run.steps.get_unchecked(input)) }
    }
}

/// Calls `f` with the places of a block. A loop would be unrolled too late for the block to be in registers.
#[inline(always)]
fn unrolled<const W: usize>(mut f: impl FnMut(usize)) {
    const { assert!(W == 1 || W == WIDTH) };
    f(0);
    if W == WIDTH {
        f(1);
        f(2);
        f(3);
        f(4);
        f(5);
        f(6);
        f(7);
    }
}

/// Applies `f` to the elements of a block.
#[inline(always)]
fn each<S: Simd, T: Number, const W: usize>(block: &mut Block<S, T, W>, f: impl Fn(T) -> T) {
    unrolled::<W>(
        #[inline(always)]
        |at| {
            block[at] = lanes(
                [block[at]],
                #[inline(always)]
                |[x]| f(x),
            );
        },
    );
}

/// Applies `f` to the elements of vectors. Known to be few, they become vectors again.
#[inline(always)]
fn lanes<V: Pod, T: Pod, const N: usize>(vectors: [V; N], f: impl Fn([T; N]) -> T) -> V {
    let mut results = vectors[0];
    let vectors = vectors.each_ref().map(
        #[inline(always)]
        |vector| bytemuck::cast_slice::<V, T>(slice::from_ref(vector)),
    );
    let out = bytemuck::cast_slice_mut::<V, T>(slice::from_mut(&mut results));
    out.iter_mut().enumerate().for_each(
        #[inline(always)]
        |(i, out)| {
            *out = f(vectors.map(
                #[inline(always)]
                |vector| vector[i],
            ));
        },
    );
    results
}
