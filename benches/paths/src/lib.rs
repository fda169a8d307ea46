//! The paths of an operator call, each in a loop.
//!
//! All paths end in the same kernel, which takes two tensors and returns another handle to the first. So the loop measures the cost of the
//! call, and of one reference count up and down.

mod calls_without_dispatcher;
mod operator_calls;

use std::hint::black_box;

use dispatch_runtime::{Error, Result, Tensor};

/// One path from the caller to the kernel.
pub struct CallPath {
    /// The path's name in the table.
    pub name: &'static str,
    /// Prepares the call, and passes the function to call to the loop.
    prepare: fn(CallLoop<'_>),
    /// PyTorch 2.15's number of instructions for the same path.
    pub pytorch: Option<u32>,
    /// Our maximum number of instructions.
    pub target: Option<u32>,
}

/// A loop that repeats a call.
pub struct CallLoop<'a> {
    /// The number of calls of each round.
    rounds: &'a [u64],
    /// Called before the first round and after each.
    mark: &'a mut dyn FnMut(),
}

/// All measured paths. The first is the empty loop.
pub const CALL_PATHS: &[CallPath] = &[
    CallPath::new("empty loop", calls_without_dispatcher::empty_loop),
    CallPath::new("function pointer", calls_without_dispatcher::call_function_pointer),
    CallPath::new("`dyn Trait`", calls_without_dispatcher::call_dyn_trait),
    CallPath::new("`match`", calls_without_dispatcher::call_by_match),
    CallPath::new("typed call, inlined", operator_calls::call_typed_inlined),
    CallPath::new("typed call", operator_calls::call_typed).with_pytorch_and_max(208, 40),
    CallPath::new("redispatch", operator_calls::call_redispatch).with_pytorch_and_max(90, 25),
    CallPath::new("typed call, Autograd kernel, redispatch", operator_calls::call_through_autograd_kernel)
        .with_pytorch_and_max(338, 90),
    CallPath::new("guard in and out", operator_calls::enter_and_leave_guard),
    CallPath::new("boxed call, two pushes, a pop", operator_calls::call_boxed).with_pytorch_and_max(443, 150),
    CallPath::new("typed call, boxed fallback", operator_calls::call_boxed_fallback).with_pytorch_and_max(619, 200),
    CallPath::new("typed call, boxed fallback, CPU kernel", operator_calls::call_through_boxed_fallback)
        .with_pytorch_and_max(743, 300),
    CallPath::new("typed call, past a marked fallback, CPU kernel", operator_calls::call_past_marked_fallback)
        .with_max_instructions(75),
];

impl CallPath {
    const fn new(name: &'static str, prepare: fn(CallLoop<'_>)) -> Self {
        Self { name, prepare, pytorch: None, target: None }
    }

    /// Sets PyTorch's number of instructions, and our maximum.
    const fn with_pytorch_and_max(mut self, pytorch: u32, target: u32) -> Self {
        self.pytorch = Some(pytorch);
        self.target = Some(target);
        self
    }

    const fn with_max_instructions(mut self, target: u32) -> Self {
        self.target = Some(target);
        self
    }

    /// Runs one round for each number in `rounds`, with that number of calls, and calls `mark` before the first round and after each.
    pub fn run_rounds(&self, rounds: &[u64], mark: &mut dyn FnMut()) {
        (self.prepare)(CallLoop { rounds, mark });
    }
}

impl CallLoop<'_> {
    /// Makes a few calls that bind the operators. Then runs the rounds, and calls `mark` between them.
    #[inline(always)]
    fn repeat_call<R: DropResult>(self, mut call: impl FnMut(&Tensor, &Tensor) -> R) {
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
            Err(error) => panic_with_error(&error),
        }
    }
}

#[cold]
#[inline(never)]
fn panic_with_error(error: &Error) -> ! {
    panic!("{error}")
}
