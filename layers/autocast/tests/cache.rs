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
#[op_def("cast_of(Tensor self) -> Tensor")]
fn cast_of(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(lower: cast_of);

/// Returns the tensor that its kernel received, which is the cast to `float32`.
#[op_def("raised(Tensor self) -> Tensor")]
fn raised(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

autocast!(fp32: raised);

/// Returns the tensor that its kernel received; its policy is written by hand.
#[op_def("by_hand(Tensor self) -> Tensor")]
fn by_hand(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[op_impl(by_hand, Autocast)]
fn by_hand_autocast(this: &Tensor) -> Result<Tensor> {
    let low = autocast::dtype(Device::CPU).unwrap_or(DType::F32);
    let _once = autocast::disable(Device::CPU);
    by_hand(&autocast::cached_cast(this, low, Device::CPU)?)
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Locks the other tests out and switches gradients off, so that casts without gradients are kept.
fn alone() -> (MutexGuard<'static, ()>, guard::Guard) {
    (ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner), guard::no_grad())
}

fn on() -> autocast::Region {
    autocast::enable(Device::CPU, DType::BF16).unwrap()
}

fn weight() -> Tensor {
    let weight = Tensor::from_slice(&[1.0_f32, 2.0]);
    weight.mark(Marks::REQUIRES_GRAD);
    weight
}

fn is_kept(weight: &Tensor) -> bool {
    cast_of(weight).unwrap().same(&cast_of(weight).unwrap())
}

#[test]
fn a_weight_is_cast_once() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let cast = cast_of(&weight).unwrap();
    assert_eq!((cast.dtype(), cast.to_vec::<bf16>().unwrap()), (DType::BF16, [1.0, 2.0].map(bf16::from_f32).to_vec()));
    assert!(cast.same(&cast_of(&weight.clone()).unwrap()), "for every handle of it");
    assert!(!cast.same(&cast_of(&self::weight()).unwrap()), "and for no other weight");
}

#[test]
fn a_policy_by_hand_casts_a_weight_once() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let cast = by_hand(&weight).unwrap();
    assert_eq!(cast.dtype(), DType::BF16);
    assert!(cast.same(&by_hand(&weight).unwrap()) && cast.same(&cast_of(&weight).unwrap()));
}

#[test]
fn what_requires_no_gradient_is_cast_anew() {
    let _alone = alone();
    let (input, _on) = (Tensor::from_slice(&[1.0_f32]), on());
    assert!(!is_kept(&input));
}

#[test]
fn what_is_no_leaf_is_cast_anew() {
    let _alone = alone();
    let (computed, _on) = (weight(), on());
    computed.mark(Marks::RECORDED);
    assert!(!is_kept(&computed));
}

#[test]
fn a_view_is_cast_anew() {
    let _alone = alone();
    let (view, _on) = (weight(), on());
    view.mark(Marks::VIEW);
    assert!(!is_kept(&view));
}

#[test]
fn what_is_not_float32_is_cast_anew() {
    let _alone = alone();
    let (half, _on) = (weight().to(DType::F16).unwrap(), on());
    half.mark(Marks::REQUIRES_GRAD);
    assert!(!is_kept(&half));
    assert_eq!(cast_of(&half).unwrap().dtype(), DType::BF16);
}

#[test]
fn a_cast_to_float32_is_not_kept() {
    let _alone = alone();
    let (low, _on) = (weight().to(DType::BF16).unwrap(), on());
    low.mark(Marks::REQUIRES_GRAD);
    assert!(!raised(&low).unwrap().same(&raised(&low).unwrap()));
}

#[test]
fn where_casts_are_not_kept_a_weight_is_cast_anew() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let kept = cast_of(&weight).unwrap();
    {
        let _uncached = autocast::uncached();
        assert!(!is_kept(&weight) && !kept.same(&cast_of(&weight).unwrap()));
    }
    assert!(kept.same(&cast_of(&weight).unwrap()), "and what was kept before stays");
}

#[test]
fn casts_go_when_the_outermost_region_ends() {
    let _alone = alone();
    let weight = weight();
    let first = on();
    let mut before = cast_of(&weight).unwrap();
    drop(first);
    assert!(before.is_unique(), "nobody else holds the cast");
    let _second = on();
    assert!(!before.same(&cast_of(&weight).unwrap()));
}

#[test]
fn casts_outlive_an_inner_region() {
    let _alone = alone();
    let (weight, _outer) = (weight(), on());
    let kept = cast_of(&weight).unwrap();
    drop(on());
    drop(autocast::disable(Device::CPU));
    assert!(kept.same(&cast_of(&weight).unwrap()));
}

#[test]
fn a_region_in_which_it_is_off_is_a_region() {
    let _alone = alone();
    let (weight, _off) = (weight(), autocast::disable(Device::CPU));
    let first = on();
    let kept = cast_of(&weight).unwrap();
    drop(first);
    let _second = on();
    assert!(kept.same(&cast_of(&weight).unwrap()));
}

#[test]
fn an_inner_region_of_another_dtype_casts_anew() {
    let _alone = alone();
    let (weight, _outer) = (weight(), on());
    cast_of(&weight).unwrap();
    let _inner = autocast::enable(Device::CPU, DType::F16).unwrap();
    assert_eq!(cast_of(&weight).unwrap().dtype(), DType::F16);
    assert!(is_kept(&weight));
}

#[test]
fn a_weight_that_was_written_is_cast_anew() {
    let _alone = alone();
    let (mut weight, _on) = (weight(), on());
    cast_of(&weight).unwrap();
    weight.write::<f32>().unwrap()[0] = 3.0;
    assert_eq!(cast_of(&weight).unwrap().to_vec::<bf16>().unwrap()[0], bf16::from_f32(3.0));
    assert!(is_kept(&weight));
}

#[test]
fn clearing_by_hand_forgets_every_cast() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let mut before = cast_of(&weight).unwrap();
    autocast::clear_cache();
    assert!(before.is_unique());
    assert!(is_kept(&weight));
}

#[test]
fn what_was_cast_while_nothing_was_recorded_is_cast_anew_for_a_gradient() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let unrecorded = cast_of(&weight).unwrap();
    let _grad = guard::enable_grad();
    assert!(!unrecorded.same(&cast_of(&weight).unwrap()));
}

#[test]
fn threads_share_casts() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let here = cast_of(&weight).unwrap();
    let there = guard::spawn(move || cast_of(&weight).unwrap()).join().unwrap();
    assert!(here.same(&there));
}

#[test]
fn the_end_of_another_threads_outermost_region_clears_the_casts_of_all() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let mut here = cast_of(&weight).unwrap();
    thread::spawn(|| drop(on())).join().unwrap();
    assert!(here.is_unique());
}

#[test]
fn outside_of_all_regions_nothing_is_kept() {
    let _alone = alone();
    let (weight, state) = (weight(), (on(), ThreadState::capture()).1);
    let mut cast = thread::spawn({
        let weight = weight.clone();
        move || state.run(|| cast_of(&weight).unwrap())
    })
    .join()
    .unwrap();
    assert_eq!(cast.dtype(), DType::BF16);
    assert!(cast.is_unique(), "nobody would take it away");
}

#[test]
fn a_view_of_a_weight_is_cast_for_itself() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    cast_of(&weight).unwrap();
    let last = weight.restride(Geometry::strided(&[1], &[1], 1).unwrap()).unwrap();
    assert_eq!(cast_of(&last).unwrap().to_vec::<bf16>().unwrap(), [bf16::from_f32(2.0)]);
}

#[test]
fn threads_that_cast_one_weight_at_once_agree_on_its_elements() {
    let _alone = alone();
    let (weight, _on) = (weight(), on());
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let weight = weight.clone();
            guard::spawn(move || {
                (0..100).all(|_| cast_of(&weight).unwrap().to_vec::<bf16>().unwrap()[1] == bf16::from_f32(2.0))
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    assert!(is_kept(&weight));
}
