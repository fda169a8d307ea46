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
    enter: fn(Loop<'_>),
    /// PyTorch 2.15's instructions for the same path.
    pub pytorch: Option<u32>,
    /// Our maximum number of instructions.
    pub target: Option<u32>,
}

/// A loop that repeats a call.
pub struct Loop<'a> {
    rounds: &'a [u64],
    mark: &'a mut dyn FnMut(),
}

/// All measured paths. The first is the empty loop.
pub const PATHS: &[Path] = &[
    Path::new("empty loop", baseline::empty),
    Path::new("function pointer", baseline::function_pointer),
    Path::new("`dyn Trait`", baseline::dyn_trait),
    Path::new("`match`", baseline::match_backend),
    Path::new("typed call, inlined", operator::inlined),
    Path::new("typed call", operator::typed).against(208, 40),
    Path::new("redispatch", operator::redispatch).against(90, 25),
    Path::new("typed call, Autograd kernel, redispatch", operator::through_autograd).against(338, 90),
    Path::new("guard in and out", operator::guarded),
    Path::new("boxed call, two pushes, a pop", operator::boxed).against(443, 150),
    Path::new("typed call, boxed fallback", operator::to_boxed_fallback).against(619, 200),
    Path::new("typed call, boxed fallback, CPU kernel", operator::through_boxed_fallback).against(743, 300),
    Path::new("typed call, boxed fallback passed over, CPU kernel", operator::over_boxed_fallback).within(75),
];

impl Path {
    const fn new(name: &'static str, enter: fn(Loop<'_>)) -> Self {
        Self { name, enter, pytorch: None, target: None }
    }

    const fn against(mut self, pytorch: u32, target: u32) -> Self {
        self.pytorch = Some(pytorch);
        self.target = Some(target);
        self
    }

    const fn within(mut self, target: u32) -> Self {
        self.target = Some(target);
        self
    }

    /// Runs a round of calls for each number in `rounds`, and calls `mark` before the first round and after each.
    pub fn run(&self, rounds: &[u64], mark: &mut dyn FnMut()) {
        (self.enter)(Loop { rounds, mark });
    }
}

impl Loop<'_> {
    /// Makes a few calls that bind the operators, and then the rounds with their marks.
    #[inline(always)]
    fn each<R: Settle>(self, mut call: impl FnMut(&Tensor, &Tensor) -> R) {
        let (a, b) = (Tensor::from_slice(&[1.0_f32]), Tensor::from_slice(&[2.0_f32]));
        for &rounds in [8].iter().chain(self.rounds) {
            for _ in 0..rounds {
                call(black_box(&a), black_box(&b)).settle();
            }
            (self.mark)();
        }
    }
}

/// Drops the result of a call. The code for errors, which do not occur, is out of line.
trait Settle {
    fn settle(self);
}

impl Settle for () {
    #[inline(always)]
    fn settle(self) {}
}

impl Settle for Result<Tensor> {
    #[inline(always)]
    fn settle(self) {
        match self {
            Ok(tensor) => drop(tensor),
            Err(error) => failed(&error),
        }
    }
}

#[cold]
#[inline(never)]
fn failed(error: &Error) -> ! {
    panic!("{error}")
}
