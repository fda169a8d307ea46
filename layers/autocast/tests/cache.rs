//! Tests of the cache of casts: when a weight is cast once, and when it is cast anew.
//!
//! Kept casts are global, and are dropped when any thread's outermost region ends, so these tests run one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use aten::prelude::*;
use dispatch_autocast::{self as autocast, autocast};
use dispatch_runtime::guard::{self, ThreadState};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Marks, bf16};
// Links the CPU kernels.
use kernels_cpu as _;

/// Returns the tensor that its kernel received, which is the cast to the region's dtype.
#[op_def("return_cast_argument(Tensor self) -> Tensor")]
fn return_cast_argument(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(lower: return_cast_argument);

/// Returns the tensor that its kernel received, which is the cast to `float32`.
#[op_def("return_fp32_argument(Tensor self) -> Tensor")]
fn return_fp32_argument(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(fp32: return_fp32_argument);

/// Returns the tensor that its kernel received; its policy is written by hand.
#[op_def("manual_policy(Tensor self) -> Tensor")]
fn manual_policy(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(manual_policy, Autocast)]
fn manual_policy_autocast(this: &Tensor) -> Result<Tensor> {
    let low = autocast::dtype(Device::CPU).unwrap_or(DType::F32);
    let _once = autocast::disable(Device::CPU);
    manual_policy(&autocast::cached_cast(this, low, Device::CPU)?)
}

static TEST_LOCK: Mutex<()> = Mutex::new(());

/// Locks the other tests out and switches gradients off, so that casts without gradients are kept.
fn lock_tests() -> (MutexGuard<'static, ()>, guard::Guard) {
    (TEST_LOCK.lock().unwrap_or_else(PoisonError::into_inner), guard::no_grad())
}

fn enable_bfloat16() -> autocast::Region {
    autocast::enable(Device::CPU, DType::BF16).unwrap()
}

fn new_weight() -> Tensor {
    let weight = Tensor::from_slice(&[1.0_f32, 2.0]);
    weight.mark(Marks::REQUIRES_GRAD);
    weight
}

fn is_cached(weight: &Tensor) -> bool {
    return_cast_argument(weight).unwrap().same(&return_cast_argument(weight).unwrap())
}

#[test]
fn a_weight_is_cast_once() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let cast = return_cast_argument(&weight).unwrap();
    assert_eq!((cast.dtype(), cast.to_vec::<bf16>().unwrap()), (DType::BF16, [1.0, 2.0].map(bf16::from_f32).to_vec()));
    assert!(cast.same(&return_cast_argument(&weight.clone()).unwrap()), "every handle of the weight shares the cast");
    assert!(!cast.same(&return_cast_argument(&new_weight()).unwrap()), "another weight has its own cast");
}

#[test]
fn a_manual_policy_casts_a_weight_once() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let cast = manual_policy(&weight).unwrap();
    assert_eq!(cast.dtype(), DType::BF16);
    assert!(cast.same(&manual_policy(&weight).unwrap()) && cast.same(&return_cast_argument(&weight).unwrap()));
}

#[test]
fn a_tensor_that_requires_no_gradient_is_not_cached() {
    let _alone = lock_tests();
    let (input, _on) = (Tensor::from_slice(&[1.0_f32]), enable_bfloat16());
    assert!(!is_cached(&input));
}

#[test]
fn a_computed_tensor_is_not_cached() {
    let _alone = lock_tests();
    let (computed, _on) = (new_weight(), enable_bfloat16());
    computed.mark(Marks::RECORDED);
    assert!(!is_cached(&computed));
}

#[test]
fn a_view_is_not_cached() {
    let _alone = lock_tests();
    let (view, _on) = (new_weight(), enable_bfloat16());
    view.mark(Marks::VIEW);
    assert!(!is_cached(&view));
}

#[test]
fn a_tensor_that_is_not_float32_is_not_cached() {
    let _alone = lock_tests();
    let (half, _on) = (new_weight().to(DType::F16).unwrap(), enable_bfloat16());
    half.mark(Marks::REQUIRES_GRAD);
    assert!(!is_cached(&half));
    assert_eq!(return_cast_argument(&half).unwrap().dtype(), DType::BF16);
}

#[test]
fn a_cast_to_float32_is_not_cached() {
    let _alone = lock_tests();
    let (low, _on) = (new_weight().to(DType::BF16).unwrap(), enable_bfloat16());
    low.mark(Marks::REQUIRES_GRAD);
    assert!(!return_fp32_argument(&low).unwrap().same(&return_fp32_argument(&low).unwrap()));
}

#[test]
fn a_weight_is_cast_again_if_the_cache_is_disabled() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let kept = return_cast_argument(&weight).unwrap();
    {
        let _uncached = autocast::disable_cache();
        assert!(!is_cached(&weight) && !kept.same(&return_cast_argument(&weight).unwrap()));
    }
    assert!(kept.same(&return_cast_argument(&weight).unwrap()), "earlier casts stay cached");
}

#[test]
fn the_end_of_the_outermost_region_clears_the_cache() {
    let _alone = lock_tests();
    let weight = new_weight();
    let first = enable_bfloat16();
    let mut before = return_cast_argument(&weight).unwrap();
    drop(first);
    assert!(before.owns_elements_alone(), "the cast has no other handle");
    let _second = enable_bfloat16();
    assert!(!before.same(&return_cast_argument(&weight).unwrap()));
}

#[test]
fn the_end_of_an_inner_region_keeps_the_cache() {
    let _alone = lock_tests();
    let (weight, _outer) = (new_weight(), enable_bfloat16());
    let kept = return_cast_argument(&weight).unwrap();
    drop(enable_bfloat16());
    drop(autocast::disable(Device::CPU));
    assert!(kept.same(&return_cast_argument(&weight).unwrap()));
}

#[test]
fn a_region_that_disables_autocast_keeps_the_cache_alive() {
    let _alone = lock_tests();
    let (weight, _off) = (new_weight(), autocast::disable(Device::CPU));
    let first = enable_bfloat16();
    let kept = return_cast_argument(&weight).unwrap();
    drop(first);
    let _second = enable_bfloat16();
    assert!(kept.same(&return_cast_argument(&weight).unwrap()));
}

#[test]
fn an_inner_region_of_another_dtype_replaces_the_cached_cast() {
    let _alone = lock_tests();
    let (weight, _outer) = (new_weight(), enable_bfloat16());
    return_cast_argument(&weight).unwrap();
    let _inner = autocast::enable(Device::CPU, DType::F16).unwrap();
    assert_eq!(return_cast_argument(&weight).unwrap().dtype(), DType::F16);
    assert!(is_cached(&weight));
}

#[test]
fn a_weight_is_cast_again_after_a_write() {
    let _alone = lock_tests();
    let (mut weight, _on) = (new_weight(), enable_bfloat16());
    return_cast_argument(&weight).unwrap();
    weight.write::<f32>().unwrap()[0] = 3.0;
    assert_eq!(return_cast_argument(&weight).unwrap().to_vec::<bf16>().unwrap()[0], bf16::from_f32(3.0));
    assert!(is_cached(&weight));
}

#[test]
fn clear_cache_drops_every_cast() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let mut before = return_cast_argument(&weight).unwrap();
    autocast::clear_cache();
    assert!(before.owns_elements_alone());
    assert!(is_cached(&weight));
}

#[test]
fn an_unrecorded_cast_is_replaced_if_gradients_are_recorded() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let unrecorded = return_cast_argument(&weight).unwrap();
    let _grad = guard::enable_grad();
    assert!(!unrecorded.same(&return_cast_argument(&weight).unwrap()));
}

#[test]
fn threads_share_the_cache() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let here = return_cast_argument(&weight).unwrap();
    let there = guard::spawn(move || return_cast_argument(&weight).unwrap()).join().unwrap();
    assert!(here.same(&there));
}

#[test]
fn the_end_of_a_region_on_another_thread_clears_the_cache() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let mut here = return_cast_argument(&weight).unwrap();
    thread::spawn(|| drop(enable_bfloat16())).join().unwrap();
    assert!(here.owns_elements_alone());
}

#[test]
fn nothing_is_cached_outside_of_regions() {
    let _alone = lock_tests();
    let (weight, state) = (new_weight(), (enable_bfloat16(), ThreadState::capture()).1);
    let mut cast = thread::spawn({
        let weight = weight.clone();
        move || state.run(|| return_cast_argument(&weight).unwrap())
    })
    .join()
    .unwrap();
    assert_eq!(cast.dtype(), DType::BF16);
    assert!(cast.owns_elements_alone(), "no region would drop the cast");
}

#[test]
fn a_view_does_not_use_the_cached_cast_of_its_base() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    return_cast_argument(&weight).unwrap();
    let last = weight.restride(Geometry::strided(&[1], &[1], 1).unwrap()).unwrap();
    assert_eq!(return_cast_argument(&last).unwrap().to_vec::<bf16>().unwrap(), [bf16::from_f32(2.0)]);
}

#[test]
fn concurrent_casts_of_one_weight_have_the_same_elements() {
    let _alone = lock_tests();
    let (weight, _on) = (new_weight(), enable_bfloat16());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let weight = weight.clone();
            guard::spawn(move || {
                (0..100)
                    .all(|_| return_cast_argument(&weight).unwrap().to_vec::<bf16>().unwrap()[1] == bf16::from_f32(2.0))
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    assert!(is_cached(&weight));
}
