//! Casts of tensors, and the cache of cast weights.
//!
//! Each call in a region may use the same weight, so its cast is kept with it. Autograd then records one cast, and the weight's gradient
//! flows through that cast. All cached casts are dropped when any thread's outermost region ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

use crate::region;

/// Returns whether autocast on the backend of `device` may cast a tensor.
pub(crate) fn may_cast(tensor: &Tensor, device: Device) -> bool {
    let dtype = tensor.dtype();
    dtype.is_floating() && dtype != DType::F64 && tensor.device().with_index(0) == device.with_index(0)
}

/// Casts a tensor to the dtype `to`, as autocast does; for policies that are written by hand.
///
/// Tensors that autocast on the backend of `device` does not cast (other devices, integers, `float64`) are returned without a cast. A
/// weight is cast to `float16` or `bfloat16` once in a region.
///
/// # Errors
///
/// Returns the error of the cast if it fails.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_autocast::{self as autocast, cached_cast};
/// use dispatch_runtime::keys::Autocast;
/// use dispatch_runtime::prelude::*;
///
/// #[op_def("dense(Tensor self, Tensor weight) -> Tensor")]
/// pub fn dense(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
///     aten::mm(this, weight)
/// }
///
/// #[op_impl(dense, Autocast)]
/// fn dense_autocast(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
///     let device = this.device();
///     let Some(low) = autocast::dtype(device) else { return dense::call_for(keys::CompositeImplicitAutograd, this, weight) };
///     let _off = autocast::disable(device);
///     dense(&cached_cast(this, low, device)?, &cached_cast(weight, low, device)?)
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
/// let _on = autocast::enable(Device::CPU, DType::F16)?;
/// assert_eq!(dense(&x, &x)?.dtype(), DType::F16);
/// # Ok(())
/// # }
/// ```
pub fn cached_cast(tensor: &Tensor, to: DType, device: Device) -> Result<Tensor> {
    if tensor.dtype() == to || !may_cast(tensor, device) {
        return Ok(tensor.clone());
    }
    if to == DType::F32 || !is_weight(tensor) || !region::is_cache_enabled() {
        return cast_tensor(tensor, to);
    }
    let cached = tensor.extension_or_init(CachedCast::default);
    if let Some(cast) = cached.get(tensor, to) {
        return Ok(cast);
    }
    let version = tensor.storage().version();
    let cast = cast_tensor(tensor, to)?;
    cached.store(tensor, VersionedCast { tensor: cast.clone(), version });
    Ok(cast)
}

/// Returns the dtype to which autocast casts these tensors under the policy `promote`; for policies that are written by hand.
///
/// It is `low`, the dtype of autocast, if all tensors that autocast on the backend of `device` may cast have that dtype, and `float32`
/// otherwise.
///
/// ```
/// use dispatch_autocast::promote_type;
/// use dispatch_runtime::{DType, Device, Spec};
///
/// let [half, single] = [DType::BF16, DType::F32].map(|dtype| Spec::contiguous(dtype, &[1]).on(Device::CPU).unwrap());
/// assert_eq!(promote_type(DType::BF16, Device::CPU, [&half]), DType::BF16);
/// assert_eq!(promote_type(DType::BF16, Device::CPU, [&half, &single]), DType::F32);
/// ```
#[must_use]
pub fn promote_type<'a>(low: DType, device: Device, tensors: impl IntoIterator<Item = &'a Tensor>) -> DType {
    let is_low = |tensor: &Tensor| tensor.dtype() == low || !may_cast(tensor, device);
    if tensors.into_iter().all(is_low) { low } else { DType::F32 }
}

fn cast_tensor(tensor: &Tensor, to: DType) -> Result<Tensor> {
    aten::to_dtype(tensor, to, false, false, None)
}

/// Returns whether casts of a tensor are worth keeping: it is a `float32` leaf that requires gradients.
fn is_weight(tensor: &Tensor) -> bool {
    tensor.dtype() == DType::F32 && tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view()
}

/// The cached cast of a weight, stored with the weight.
#[derive(Default)]
struct CachedCast(Mutex<Option<VersionedCast>>);

struct VersionedCast {
    tensor: Tensor,
    /// The version of the weight's storage at the time of the cast.
    version: u64,
}

impl CachedCast {
    fn get(&self, weight: &Tensor, to: DType) -> Option<Tensor> {
        let cast = lock_ignoring_poison(&self.0);
        let VersionedCast { tensor, version } = cast.as_ref()?;
        // A cast that was made under `no_grad` is not recorded, so no gradient could flow through it.
        let is_recorded = tensor.requires_grad() || !guard::is_grad_enabled();
        let is_fresh = tensor.dtype() == to && *version == weight.storage().version();
        (is_fresh && is_recorded).then(|| tensor.clone())
    }

    /// Stores the cast of a weight, unless all regions have ended in the meantime: then the end of no region would drop it.
    fn store(&self, weight: &Tensor, cast: VersionedCast) {
        let mut active = lock_ignoring_poison(&CACHE_STATE);
        if active.thread_count == 0 {
            return;
        }
        let before = lock_ignoring_poison(&self.0).replace(cast);
        if before.is_none() {
            active.weights.push(weight.clone());
        }
        drop(active);
        drop(before);
    }
}

/// The number of threads that are in a region, and the weights with cached casts.
struct CacheState {
    thread_count: usize,
    weights: Vec<Tensor>,
}

static CACHE_STATE: Mutex<CacheState> = Mutex::new(CacheState { thread_count: 0, weights: Vec::new() });

/// Locks a mutex even if a thread panicked while it held the lock: all writes under these locks are complete.
fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a thread that enters its outermost region.
pub(crate) fn enter_outermost_region() {
    lock_ignoring_poison(&CACHE_STATE).thread_count += 1;
}

/// Notes that a thread left its outermost region, and drops all cached casts.
pub(crate) fn leave_outermost_region() {
    lock_ignoring_poison(&CACHE_STATE).thread_count -= 1;
    clear_cache();
}

/// Drops all cached casts, of all threads. The end of a thread's outermost region does so, too.
///
/// ```
/// dispatch_autocast::clear_cache();
/// ```
pub fn clear_cache() {
    let weights = std::mem::take(&mut lock_ignoring_poison(&CACHE_STATE).weights);
    for weight in weights {
        // The cast and its autograd history are dropped while no lock is held.
        let cast = weight.extension::<CachedCast>().and_then(|cached| lock_ignoring_poison(&cached.0).take());
        drop(cast);
    }
}
