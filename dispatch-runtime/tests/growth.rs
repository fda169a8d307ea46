//! Tests that a program which registers and removes in a loop does not grow.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Registrar, fallback};

struct Counting;

thread_local! {
    /// The number of bytes that this thread has allocated. It is per thread, because the test harness has its own threads.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size().cast_signed());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size().cast_signed());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[op_def("growth::kept(Tensor self) -> Tensor")]
fn kept(this: &Tensor) -> Result<Tensor>;

#[op_impl(kept, CPU)]
fn kept_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

type Copy = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;

#[test]
fn registering_calling_and_removing_again_and_again_takes_no_memory() {
    let (lab, x) = (Registrar::new("growth"), Tensor::from_slice(&[1.0_f32]));
    let round = |state: u64| {
        let on_top = lab
            .override_kernel("kept", keys::CPU, move |_, _, _| {
                assert!(state < 100);
                Ok(())
            })
            .unwrap();
        kept(&x).unwrap();
        let typed: Box<Copy> = Box::new(move |x| Ok((state, x.clone()).1));
        let above = lab.override_typed_kernel("kept", keys::CPU, typed).unwrap();
        kept(&x).unwrap();
        above.remove();
        on_top.remove();
        kept(&x).unwrap();

        let everywhere =
            fallback(keys::Tracer, |op, keys, stack| op.redispatch_boxed(keys.below(keys::Tracer), stack)).unwrap();
        kept(&x).unwrap();
        everywhere.remove();

        let defined = lab.define("made(Tensor x) -> Tensor").unwrap();
        let kernel = lab.kernel("made", keys::CPU, |_, _, _| Ok(())).unwrap();
        defined.operator().unwrap().call([(&x).into()]).unwrap();
        kernel.remove();
        defined.remove();
    };
    (0..3).for_each(round);
    let before = LIVE.get();
    (0..100).for_each(round);
    assert_eq!(LIVE.get() - before, 0);
}
