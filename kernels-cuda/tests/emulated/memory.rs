//! Tests of device memory: statistics, freeing and reuse.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;
use kernels_cuda::{Launch, Stream};

use crate::{lock_device, lock_first_device};

#[test]
fn statistics_follow_allocation_and_freeing() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let before = kernels_cuda::memory_stats(0).unwrap();
    let tensor = Spec::contiguous(DType::F32, &[1000]).on(cuda).unwrap();
    let during = kernels_cuda::memory_stats(0).unwrap();
    drop(tensor);
    let after = kernels_cuda::memory_stats(0).unwrap();
    assert_eq!(during.in_use - before.in_use, 4000);
    assert_eq!(after.in_use, before.in_use);
    assert!(after.peak_in_use >= during.in_use && after.allocations == before.allocations + 1);
}

#[test]
fn freed_memory_is_reused_in_its_stream_only() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let (here, there) = (Stream::new(cuda).unwrap(), Stream::new(cuda).unwrap());
    let address = |stream: Stream| {
        let _entered = stream.enter();
        let tensor = Spec::contiguous(DType::U8, &[100_000]).on(cuda).unwrap();
        Launch::on_device_of(&tensor).unwrap().pointer(&tensor).unwrap()
    };
    let first = address(here);
    assert_eq!(address(here), first);
    assert_ne!(address(there), first);
    let reserved = kernels_cuda::memory_stats(0).unwrap().reserved;
    kernels_cuda::empty_cache().unwrap();
    let after = kernels_cuda::memory_stats(0).unwrap();
    assert!(after.reserved <= reserved - 200_000 && after.reserved >= after.in_use, "{after:?}");
}

/// A guard that limits the memory of emulated devices.
struct MemoryLimitGuard;

impl MemoryLimitGuard {
    fn set(bytes: usize) -> Self {
        kernels_cuda::emulate_memory_limit(bytes);
        Self
    }
}

impl Drop for MemoryLimitGuard {
    fn drop(&mut self) {
        kernels_cuda::emulate_memory_limit(usize::MAX);
    }
}

#[test]
fn cached_blocks_are_released_before_out_of_memory() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    kernels_cuda::empty_cache().unwrap();
    let before = kernels_cuda::memory_stats(0).unwrap().reserved;
    if kernels_cuda::device_properties(0).unwrap().memory != usize::MAX {
        return println!("skipped: filling the memory of a GPU takes too long");
    }
    let block = |size: i64| Spec::contiguous(DType::U8, &[size]).on(cuda);
    // Locks the second device, so that no other test allocates meanwhile.
    let _other = lock_device(1);
    let _limited = MemoryLimitGuard::set(before + (8 << 20));
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
