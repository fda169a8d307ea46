//! The paths of an operator call, each in a loop.
//!
//! All paths end in the same kernel, which takes two tensors and returns another handle to the first. So the loop measures the cost of the
//! call, and of one reference count up and down.

mod baseline;
mod operator;

use std::hint::black_box;

use dispatch_runtime::{Error, Result, Tensor};

/// One path from the caller to the kernel.
pub struct Path {
    /// The path's name in the table.
    pub name: &'static str,
    /// Prepares the call, and passes the function to call to the loop.
    prepare: fn(Loop<'_>),
    /// PyTorch 2.15's instructions for the same path.
    pub pytorch: Option<u32>,
    /// Our maximum number of instructions.
    pub target: Option<u32>,
}

/// A loop that repeats a call.
pub struct Loop<'a> {
    /// The number of calls of each round.
    rounds: &'a [u64],
    /// Called before the first round and after each.
    mark: &'a mut dyn FnMut(),
}

/// All measured paths. The first is the empty loop.
pub const PATHS: &[Path] = &[
    Path::new("empty loop", baseline::empty),
    Path::new("function pointer", baseline::function_pointer),
    Path::new("`dyn Trait`", baseline::dyn_trait),
    Path::new("`match`", baseline::match_backend),
    Path::new("typed call, inlined", operator::inlined),
    Path::new("typed call", operator::typed).with_targets(208, 40),
    Path::new("redispatch", operator::redispatch).with_targets(90, 25),
    Path::new("typed call, Autograd kernel, redispatch", operator::through_autograd).with_targets(338, 90),
    Path::new("guard in and out", operator::guarded),
    Path::new("boxed call, two pushes, a pop", operator::boxed).with_targets(443, 150),
    Path::new("typed call, boxed fallback", operator::to_boxed_fallback).with_targets(619, 200),
    Path::new("typed call, boxed fallback, CPU kernel", operator::through_boxed_fallback).with_targets(743, 300),
    Path::new("typed call, past a marked fallback, CPU kernel", operator::past_marked_fallback).with_target(75),
];

impl Path {
    const fn new(name: &'static str, prepare: fn(Loop<'_>)) -> Self {
        Self { name, prepare, pytorch: None, target: None }
    }

    /// Sets the target, and PyTorch's count of instructions.
    const fn with_targets(mut self, pytorch: u32, target: u32) -> Self {
        self.pytorch = Some(pytorch);
        self.target = Some(target);
        self
    }

    const fn with_target(mut self, target: u32) -> Self {
        self.target = Some(target);
        self
    }

    /// Runs one round for each number in `rounds`, with that number of calls, and calls `mark` before the first round and after each.
    pub fn run(&self, rounds: &[u64], mark: &mut dyn FnMut()) {
        (self.prepare)(Loop { rounds, mark });
    }
}

impl Loop<'_> {
    /// Makes a few calls that bind the operators. Then runs the rounds, and calls `mark` between them.
    #[inline(always)]
    fn repeat<R: DropResult>(self, mut call: impl FnMut(&Tensor, &Tensor) -> R) {
        let (a, b) = (Tensor::from_slice(&[1.0_f32]), Tensor::from_slice(&[2.0_f32]));
        for &calls in [8].iter().chain(self.rounds) {
            for _ in 0..calls {
                call(black_box(&a), black_box(&b)).drop_result();
            }
            (self.mark)();
        }
    }
}

/// Drops the result of a call. The code for errors, which do not occur, is out of line.
trait DropResult {
    fn drop_result(self);
}

impl DropResult for () {
    #[inline(always)]
    fn drop_result(self) {}
}

impl DropResult for Result<Tensor> {
    #[inline(always)]
    fn drop_result(self) {
        match self {
            Ok(tensor) => drop(tensor),
            Err(error) => panic_with(&error),
        }
    }
}

#[cold]
#[inline(never)]
fn panic_with(error: &Error) -> ! {
    panic!("{error}")
}
