//! Tests that the memory of a program which registers and removes kernels in a loop does not grow.

#![allow(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Registrar, fallback};

struct CountingAllocator;

thread_local! {
    /// The number of bytes that this thread has allocated. It is per thread, because the test harness has its own threads.
    static ALLOCATED_BYTES: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + layout.size().cast_signed());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() - layout.size().cast_signed());
        // SAFETY: the caller meets the same requirements.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[op_def("growth::permanent_operator(Tensor self) -> Tensor")]
fn permanent_operator(this: &Tensor) -> Result<Tensor>;

#[op_impl(permanent_operator, CPU)]
fn permanent_operator_cpu(this: &Tensor) -> Tensor {
    this.clone()
}

type TypedKernel = dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync;

#[test]
fn repeated_registration_and_removal_does_not_grow_memory() {
    let (registrar, x) = (Registrar::new("growth"), Tensor::from_slice(&[1.0_f32]));
    let round = |state: u64| {
        let boxed_override = registrar
            .override_kernel("permanent_operator", keys::CPU, move |_, _, _| {
                assert!(state < 100);
                Ok(())
            })
            .unwrap();
        permanent_operator(&x).unwrap();
        let typed: Box<TypedKernel> = Box::new(move |x| Ok((state, x.clone()).1));
        let typed_override = registrar.override_typed_kernel("permanent_operator", keys::CPU, typed).unwrap();
        permanent_operator(&x).unwrap();
        typed_override.remove();
        boxed_override.remove();
        permanent_operator(&x).unwrap();

        let tracer =
            fallback(keys::Tracer, |op, keys, stack| op.redispatch_boxed(keys.below(keys::Tracer), stack)).unwrap();
        permanent_operator(&x).unwrap();
        tracer.remove();

        let defined = registrar.define("temporary(Tensor x) -> Tensor").unwrap();
        let kernel = registrar.kernel("temporary", keys::CPU, |_, _, _| Ok(())).unwrap();
        defined.operator().unwrap().call([(&x).into()]).unwrap();
        kernel.remove();
        defined.remove();
    };
    (0..3).for_each(round);
    let before = ALLOCATED_BYTES.get();
    (0..100).for_each(round);
    assert_eq!(ALLOCATED_BYTES.get() - before, 0);
}
