//! Tests of device memory: statistics, freeing and reuse.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{Launch, Stream};

use crate::{alone, device};

#[test]
fn memory_is_counted_and_given_back() {
    let Some((cuda, _alone)) = device() else { return };
    let before = kernels_cuda::memory(0).unwrap();
    let tensor = Spec::contiguous(DType::F32, &[1000]).on(cuda).unwrap();
    let during = kernels_cuda::memory(0).unwrap();
    drop(tensor);
    let after = kernels_cuda::memory(0).unwrap();
    assert_eq!(during.in_use - before.in_use, 4000);
    assert_eq!(after.in_use, before.in_use);
    assert!(after.most >= during.in_use && after.blocks == before.blocks + 1);
}

#[test]
fn memory_that_was_given_back_in_a_stream_is_lent_again_there_and_not_elsewhere() {
    let Some((cuda, _alone)) = device() else { return };
    let (here, there) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    let place = |stream: Stream| {
        let _entered = stream.enter();
        let tensor = Spec::contiguous(DType::U8, &[100_000]).on(cuda).unwrap();
        Launch::on(&tensor).unwrap().place(&tensor).unwrap()
    };
    let first = place(here);
    assert_eq!(place(here), first);
    assert_ne!(place(there), first);
    let reserved = kernels_cuda::memory(0).unwrap().reserved;
    kernels_cuda::empty_cache().unwrap();
    let after = kernels_cuda::memory(0).unwrap();
    assert!(after.reserved <= reserved - 200_000 && after.reserved >= after.in_use, "{after:?}");
}

/// A guard that limits the memory of emulated devices.
struct Limited;

impl Limited {
    fn to(bytes: usize) -> Self {
        kernels_cuda::emulate_memory(bytes);
        Self
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        kernels_cuda::emulate_memory(usize::MAX);
    }
}

#[test]
fn where_memory_runs_out_what_lies_idle_is_given_back_first() {
    let Some((cuda, _alone)) = device() else { return };
    kernels_cuda::empty_cache().unwrap();
    let before = kernels_cuda::memory(0).unwrap().reserved;
    if kernels_cuda::properties(0).unwrap().memory != usize::MAX {
        return println!("skipped: a device's memory takes long to fill");
    }
    let block = |size: i64| Spec::contiguous(DType::U8, &[size]).on(cuda);
    // No other test allocates meanwhile.
    let _other = alone(1);
    let _limited = Limited::to(before + (8 << 20));
    let (here, there) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    for (stream, other) in [(here, there), (there, here)] {
        let _entered = stream.enter();
        let blocks: Vec<Tensor> = (0..4).map(|_| block(1 << 20).unwrap()).collect();
        // Another stream still uses one block.
        let _other = other.enter();
        let sum = aten::sum(&blocks[0], None).unwrap();
        drop((blocks, sum));
    }
    let large = block(6 << 20).unwrap();
    let error = block(6 << 20).unwrap_err().to_string();
    assert!(error.contains("6291456 bytes"), "{error}");
    drop(large);
    block(7 << 20).unwrap();
}
