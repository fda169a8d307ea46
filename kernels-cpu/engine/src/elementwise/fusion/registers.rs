//! Runs: cheap operations, one after another on elements that stay in registers.
//!
//! A loop that adds a number spends its time on loads and stores, even in the L1 cache. Consecutive calls of this kind become a *run*: a
//! block of elements is loaded, goes through all operations, and is stored. The code of an operation is looked up once per block. An
//! operation does to vectors what the operator's own loop does to elements, as both come from one expression in this file. It rounds to the
//! dtype of its result.

use std::marker::PhantomData;
use std::slice;

use dispatch_runtime::{Arithmetic, DType};
use pulp::bytemuck::Pod;
use pulp::{Arch, Simd, WithSimd};

use crate::compute::{ComputeType, Divide, Ordered, RealFloat};
use crate::convert::{round_through_bf16, round_through_f16};
use crate::elementwise::fusible::ContiguousLoop;
use crate::inlined::inlined;
use crate::math::Real;

/// Defines the operations of runs: functions of elements and scalars, with the arguments that can be in registers.
macro_rules! define_cheap_operations {
    ($($name:ident<$bound:path>[$($element:ident),+] at $($register_argument:literal)+ => $body:expr;)*) => {
        /// A cheap elementwise operation that can be part of a run. Its tensor arguments come first, then its scalars.
        #[derive(Clone, Copy, PartialEq)]
        #[expect(non_camel_case_types, reason = "the names of the functions in `scalar_functions`")]
        pub enum CheapOperation { $(#[doc = concat!("`", stringify!($name), "`")] $name),* }

        /// The cheap operations as functions of single elements, for runs and for the operators' own loops.
        #[allow(dead_code, reason = "`plus` and `minus` are operations of runs only")]
        pub mod scalar_functions {
            use super::*;

            $(#[doc = concat!("`", stringify!($name), "` of elements and numbers")]
            #[inline(always)]
            pub fn $name<T: $bound>([$($element),+]: [T; [$(stringify!($element)),+].len()]) -> T { $body })*
        }

        /// The cheap operations as functions of vectors, with the expressions of [`scalar_functions`].
        mod vector_functions {
            use super::*;

            $(#[inline(always)]
            pub(super) fn $name<T: Vector>([$($element),+]: [T; [$(stringify!($element)),+].len()]) -> T { $body })*
        }

        impl CheapOperation {
            /// Returns whether the argument number `register_argument` can be in registers.
            pub(super) fn accepts_register_at(self, register_argument: usize) -> bool {
                match self {
                    $(Self::$name => [$($register_argument),+].contains(&register_argument),)*
                }
            }

            /// Returns the number of arguments, scalars included.
            fn arity(self) -> usize {
                match self {
                    $(Self::$name => [$(stringify!($element)),+].len(),)*
                }
            }
        }

        impl<T: RegisterRunElement> RegisterRunCall<'_, T> {
            /// Applies one operation of the run to a block of elements.
            ///
            /// # Safety
            ///
            /// The safety conditions of [`compute_block`](Self::compute_block) hold.
            #[inline(always)]
            unsafe fn apply_step<S: Simd, const W: usize>(&self, x: &mut VectorBlock<S, T, W>, step: &RegisterRunStep, start: usize) {
                match (step.cheap, step.register_argument) {
                    $($(
                        // SAFETY: guaranteed by the caller.
                        (CheapOperation::$name, $register_argument) => unsafe { self.apply_to_block::<S, _, W, $register_argument>(x, step.first_operand, start, vector_functions::$name) },
                    )+)*
                    _ => debug_assert!(false, "an operation accepts this argument in registers"),
                }
            }
        }
    };
}

define_cheap_operations! {
    plus<Arithmetic>[a, b] at 0 1 => a.plus(b);
    minus<Arithmetic>[a, b] at 0 1 => a.minus(b);
    add_scaled<Arithmetic>[a, b, factor] at 0 1 => a.plus(b.times(factor));
    sub_scaled<Arithmetic>[a, b, factor] at 0 1 => a.minus(b.times(factor));
    rsub_scaled<Arithmetic>[a, b, factor] at 0 1 => b.minus(a.times(factor));
    times<Arithmetic>[a, b] at 0 1 => a.times(b);
    divide<Divide>[a, b] at 0 1 => a.divide(b);
    negated<ComputeType>[x] at 0 => x.negated();
    magnitude<Ordered>[x] at 0 => x.magnitude();
    sqrt<Real>[x] at 0 => x.sqrt();
    reciprocal<Real>[x] at 0 => x.reciprocal();
    larger<Ordered>[a, b] at 0 1 => a.larger(b);
    smaller<Ordered>[a, b] at 0 1 => a.smaller(b);
    clamp<Ordered>[x, low, high] at 0 => x.larger(low).smaller(high);
    relu<Ordered>[x] at 0 => x.relu();
    leaky_relu<RealFloat>[x, slope] at 0 => x.leaky_relu(slope);
    threshold<Ordered>[x, threshold, value] at 0 => x.threshold(threshold, value);
}

/// One operation of a run.
#[derive(Clone, Copy)]
pub(super) struct RegisterRunStep {
    pub(super) cheap: CheapOperation,
    /// The index of the argument that is in registers.
    pub(super) register_argument: usize,
    /// The index, among the inputs of the run, of the operation's first argument that is not in registers.
    pub(super) first_operand: usize,
}

/// Returns the loop of a run, which begins with the elements of input 0; `None` if runs do not compute with the dtype. A `uniform` input is
/// one element, repeated.
pub(super) fn register_run_loop(
    dtype: DType,
    run_steps: Vec<RegisterRunStep>,
    uniform: &[bool],
) -> Option<Box<dyn ContiguousLoop>> {
    Some(match dtype {
        DType::F32 => Box::new(RegisterRunLoop::<f32>::new(run_steps, uniform, RegisterRounding::None)),
        DType::F64 => Box::new(RegisterRunLoop::<f64>::new(run_steps, uniform, RegisterRounding::None)),
        DType::BF16 => Box::new(RegisterRunLoop::<f32>::new(run_steps, uniform, RegisterRounding::BF16)),
        DType::F16 => Box::new(RegisterRunLoop::<f32>::new(run_steps, uniform, RegisterRounding::F16)),
        _ => return None,
    })
}

/// The narrow dtype that the result of each operation is rounded to.
#[derive(Clone, Copy)]
enum RegisterRounding {
    None,
    BF16,
    F16,
}

/// The loop of a run: operations whose operands are among the inputs of a call.
struct RegisterRunLoop<T> {
    run_steps: Vec<RegisterRunStep>,
    /// The stride of each input in bytes; 0 if it is uniform.
    strides: Vec<usize>,
    rounding: RegisterRounding,
    element: PhantomData<fn() -> T>,
}

impl<T: RegisterRunElement> RegisterRunLoop<T> {
    fn new(run_steps: Vec<RegisterRunStep>, uniform: &[bool], rounding: RegisterRounding) -> Self {
        let are_valid = |step: &RegisterRunStep| {
            let RegisterRunStep { cheap, register_argument, first_operand } = *step;
            cheap.accepts_register_at(register_argument)
                && first_operand > 0
                && first_operand + cheap.arity() <= uniform.len() + 1
        };
        assert!(!uniform.is_empty() && run_steps.iter().all(are_valid), "each operand of a run is one of its inputs");
        let step = |uniform: &bool| if *uniform { 0 } else { size_of::<T>() };
        Self { run_steps, strides: uniform.iter().map(step).collect(), rounding, element: PhantomData }
    }
}

impl<T: RegisterRunElement> ContiguousLoop for RegisterRunLoop<T> {
    unsafe fn run(&self, out: *mut u8, inputs: &[*const u8], count: usize) {
        assert_eq!(inputs.len(), self.strides.len(), "a run has one stride for each input");
        Arch::new().dispatch(RegisterRunCall { run: self, inputs, out, count });
    }
}

/// A scalar type for which runs use vectors: `f32` or `f64`.
trait RegisterRunElement: Pod {
    type Vector<S: Simd>: Vector;

    /// Rounds to a narrow dtype.
    fn round_to(self, rounding: RegisterRounding) -> Self;
}

inlined! {
    impl RegisterRunElement for f32 {
        type Vector[S: Simd] = Floats<S>;
        fn round_to(self, rounding: RegisterRounding) -> Self = match rounding {
            RegisterRounding::None => self,
            RegisterRounding::BF16 => round_through_bf16(self),
            RegisterRounding::F16 => round_through_f16(self),
        };
    }

    impl RegisterRunElement for f64 {
        type Vector[S: Simd] = Doubles<S>;
        fn round_to(self, _rounding: RegisterRounding) -> Self = self;
    }
}

/// Vector operations: each does to every lane what the scalar function of the same name does.
trait Vector: Copy {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn divide(self, divisor: Self) -> Self;
    fn negated(self) -> Self;
    fn magnitude(self) -> Self;
    fn sqrt(self) -> Self;
    fn reciprocal(self) -> Self;
    fn larger(self, other: Self) -> Self;
    fn smaller(self, other: Self) -> Self;
    fn relu(self) -> Self;
    fn leaky_relu(self, slope: Self) -> Self;
    fn threshold(self, threshold: Self, value: Self) -> Self;
}

/// Defines vector types by the names of their instructions.
macro_rules! vector_types {
    ($($name:ident of $vectors:ident: $one:literal $splat:ident $add:ident $sub:ident $mul:ident $div:ident $neg:ident $abs:ident $sqrt:ident
        $equal:ident $greater:ident $less:ident $at_most:ident $select:ident;)+) => {
        $(#[derive(Clone, Copy)]
        #[repr(C)]
        struct $name<S: Simd> {
            simd: S,
            vector: S::$vectors,
        }

        impl<S: Simd> $name<S> {
            #[inline(always)]
            fn with_vector(self, vector: S::$vectors) -> Self {
                const { assert!(size_of::<S>() == 0, "a vector type has the layout of its elements") };
                Self { vector, ..self }
            }
        })+

        inlined! {
            $(impl [S: Simd] Vector for $name<S> {
                fn plus(self, other: Self) -> Self = self.with_vector(self.simd.$add(self.vector, other.vector));
                fn minus(self, other: Self) -> Self = self.with_vector(self.simd.$sub(self.vector, other.vector));
                fn times(self, other: Self) -> Self = self.with_vector(self.simd.$mul(self.vector, other.vector));
                fn divide(self, divisor: Self) -> Self = self.with_vector(self.simd.$div(self.vector, divisor.vector));
                fn negated(self) -> Self = self.with_vector(self.simd.$neg(self.vector));
                fn magnitude(self) -> Self = self.with_vector(self.simd.$abs(self.vector));
                fn sqrt(self) -> Self = self.with_vector(self.simd.$sqrt(self.vector));
                fn reciprocal(self) -> Self = self.with_vector(self.simd.$div(self.simd.$splat($one), self.vector));
                fn larger(self, other: Self) -> Self = {
                    let (simd, a, b) = (self.simd, self.vector, other.vector);
                    let number = simd.$select(simd.$greater(a, b), a, b);
                    self.with_vector(simd.$select(simd.$equal(a, a), number, a))
                };
                fn smaller(self, other: Self) -> Self = {
                    let (simd, a, b) = (self.simd, self.vector, other.vector);
                    let number = simd.$select(simd.$less(a, b), a, b);
                    self.with_vector(simd.$select(simd.$equal(a, a), number, a))
                };
                fn relu(self) -> Self = self.larger(self.with_vector(self.simd.$splat(0.0)));
                fn leaky_relu(self, slope: Self) -> Self = {
                    let is_positive = self.simd.$greater(self.vector, self.simd.$splat(0.0));
                    self.with_vector(self.simd.$select(is_positive, self.vector, self.times(slope).vector))
                };
                fn threshold(self, threshold: Self, value: Self) -> Self = {
                    let is_below = self.simd.$at_most(self.vector, threshold.vector);
                    self.with_vector(self.simd.$select(is_below, value.vector, self.vector))
                };
            })+
        }
    };
}

vector_types! {
    Floats of f32s: 1.0 splat_f32s add_f32s sub_f32s mul_f32s div_f32s neg_f32s abs_f32s sqrt_f32s
        equal_f32s greater_than_f32s less_than_f32s less_than_or_equal_f32s select_f32s;
    Doubles of f64s: 1.0 splat_f64s add_f64s sub_f64s mul_f64s div_f64s neg_f64s abs_f64s sqrt_f64s
        equal_f64s greater_than_f64s less_than_f64s less_than_or_equal_f64s select_f64s;
}

/// The number of vectors in a block: enough to hide the latency of an operation, few enough to leave registers for operands.
const VECTORS_PER_BLOCK: usize = 8;

type VectorBlock<S, T, const W: usize> = [<T as RegisterRunElement>::Vector<S>; W];

/// A run, bound to the elements of one call. There are `count` elements at every input, or one if the input is uniform, and room for as
/// many results. The operands of all operations are among the inputs.
struct RegisterRunCall<'a, T> {
    run: &'a RegisterRunLoop<T>,
    inputs: &'a [*const u8],
    out: *mut u8,
    count: usize,
}

impl<T: RegisterRunElement> WithSimd for RegisterRunCall<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let length = size_of::<VectorBlock<S, T, VECTORS_PER_BLOCK>>() / size_of::<T>();
        let Some(last) = self.count.checked_sub(length) else {
            return self.compute_short();
        };
        let mut start = 0;
        while start < last {
            // SAFETY: there are `count` elements at every input and result, and `new` checked the operands of each operation.
            unsafe { self.compute_block::<S, VECTORS_PER_BLOCK>(start) };
            start += length;
        }
        // The last block may overlap the block before it. Results overlap no input, so they are just computed again.
        // SAFETY: there are `count` elements at every input and result, and `new` checked the operands of each operation.
        unsafe { self.compute_block::<S, VECTORS_PER_BLOCK>(last) };
    }
}

impl<T: RegisterRunElement> RegisterRunCall<'_, T> {
    /// Computes a call of fewer elements than a block has, one at a time.
    #[inline(never)]
    fn compute_short(&self) {
        for start in 0..self.count {
            // SAFETY: there are `count` elements at every input and result, and `new` checked the operands of each operation.
            unsafe { self.compute_block::<pulp::Scalar, 1>(start) };
        }
    }

    /// # Safety
    ///
    /// Every input and the result have a block of elements from `start` on, and all operands are among the inputs.
    #[inline(always)]
    unsafe fn compute_block<S: Simd, const W: usize>(&self, start: usize) {
        // SAFETY: guaranteed by the caller; the results overlap no input.
        unsafe {
            let from = self.input_pointer(0, start).cast::<T::Vector<S>>();
            let mut x = [from.read_unaligned(); W];
            for_each_vector::<W>(
                #[inline(always)]
                |at| x[at] = from.add(at).read_unaligned(),
            );
            for step in &self.run.run_steps {
                self.apply_step::<S, W>(&mut x, step, start);
                match self.run.rounding {
                    RegisterRounding::None => {}
                    rounding => round_block::<S, T, W>(&mut x, rounding),
                }
            }
            let out = self.out.add(start * size_of::<T>()).cast::<T::Vector<S>>();
            for_each_vector::<W>(
                #[inline(always)]
                |at| out.add(at).write_unaligned(x[at]),
            );
        }
    }

    /// Applies `f` to a block, which is argument number `PLACE` of `f`.
    ///
    /// # Safety
    ///
    /// The safety conditions of [`compute_block`](Self::compute_block) hold.
    #[inline(always)]
    unsafe fn apply_to_block<S: Simd, const N: usize, const W: usize, const PLACE: usize>(
        &self,
        x: &mut VectorBlock<S, T, W>,
        first_operand: usize,
        start: usize,
        f: impl Fn([T::Vector<S>; N]) -> T::Vector<S>,
    ) {
        let mut from = [std::ptr::null::<T::Vector<S>>(); N];
        for (i, from) in from.iter_mut().enumerate().filter(|(i, _)| *i != PLACE) {
            // SAFETY: guaranteed by the caller.
            *from = unsafe { self.input_pointer(first_operand + i - usize::from(i > PLACE), start) }.cast();
        }
        for_each_vector::<W>(
            #[inline(always)]
            |at| {
                let mut all = [x[at]; N];
                for (i, all) in all.iter_mut().enumerate().filter(|(i, _)| *i != PLACE) {
                    // SAFETY: guaranteed by the caller.
                    *all = unsafe { from[i].add(at).read_unaligned() };
                }
                x[at] = f(all);
            },
        );
    }

    /// # Safety
    ///
    /// `input` is the index of an input.
    #[inline(always)]
    unsafe fn input_pointer(&self, input: usize, start: usize) -> *const u8 {
        // SAFETY: guaranteed by the caller, and there are as many steps.
        unsafe { self.inputs.get_unchecked(input).wrapping_add(start * self.run.strides.get_unchecked(input)) }
    }
}

/// Calls `f` with the indices of a block's vectors. The compiler would unroll a loop too late to keep the block in registers.
#[inline(always)]
fn for_each_vector<const W: usize>(mut f: impl FnMut(usize)) {
    const { assert!(W == 1 || W == VECTORS_PER_BLOCK) };
    f(0);
    if W == VECTORS_PER_BLOCK {
        f(1);
        f(2);
        f(3);
        f(4);
        f(5);
        f(6);
        f(7);
    }
}

/// Rounds the elements of a block, in a loop that the compiler vectorises.
#[inline(always)]
fn round_block<S: Simd, T: RegisterRunElement, const W: usize>(
    block: &mut VectorBlock<S, T, W>,
    rounding: RegisterRounding,
) {
    // Rounds a copy, so that the block itself stays in registers.
    let mut copy = *block;
    // SAFETY: a block of vectors consists of contiguous numbers.
    let element =
        unsafe { slice::from_raw_parts_mut((&raw mut copy).cast::<T>(), size_of_val(&copy) / size_of::<T>()) };
    match rounding {
        RegisterRounding::None => {}
        RegisterRounding::BF16 => element.iter_mut().for_each(|x| *x = x.round_to(RegisterRounding::BF16)),
        RegisterRounding::F16 => element.iter_mut().for_each(|x| *x = x.round_to(RegisterRounding::F16)),
    }
    *block = copy;
}
