//! Casts, and the cache that casts a weight once.
//!
//! A weight is used by every step of a region, so its cast is kept with it: autograd then sees one cast, and its gradient comes back
//! through that one. Kept casts live as long as regions do. Whenever a thread's outermost region ends, all of them go.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dispatch_runtime::guard;
use dispatch_runtime::prelude::*;

use crate::region;

/// Whether autocast on the backend of `device` may cast a tensor at all.
pub(crate) fn is_eligible(tensor: &Tensor, device: Device) -> bool {
    let dtype = tensor.dtype();
    dtype.is_floating() && dtype != DType::F64 && tensor.device().with_index(0) == device.with_index(0)
}

/// The tensor in this dtype, if it is eligible.
pub(crate) fn cast(tensor: &Tensor, to: DType, low: DType, device: Device) -> Result<Tensor> {
    if tensor.dtype() == to || !is_eligible(tensor, device) {
        return Ok(tensor.clone());
    }
    if to != low || !is_weight(tensor) || !region::caches() {
        return converted(tensor, to);
    }
    let kept = tensor.extension_or_init(Kept::default);
    if let Some(cast) = kept.get(tensor, to) {
        return Ok(cast);
    }
    let version = tensor.storage().version();
    let cast = converted(tensor, to)?;
    kept.keep(tensor, Cast { tensor: cast.clone(), version });
    Ok(cast)
}

fn converted(tensor: &Tensor, to: DType) -> Result<Tensor> {
    aten::to_dtype(tensor, to, false, false, None)
}

/// What is cast again and again, and whose gradient somebody waits for.
fn is_weight(tensor: &Tensor) -> bool {
    tensor.dtype() == DType::F32 && tensor.requires_grad() && tensor.is_leaf() && !tensor.is_view()
}

/// What the layer remembers about a weight.
#[derive(Default)]
struct Kept(Mutex<Option<Cast>>);

struct Cast {
    tensor: Tensor,
    /// The weight's, when it was cast.
    version: u64,
}

impl Kept {
    fn get(&self, weight: &Tensor, to: DType) -> Option<Tensor> {
        let cast = lock(&self.0);
        let Cast { tensor, version } = cast.as_ref()?;
        // What was cast while nothing was recorded has no gradient to give.
        let is_recorded = tensor.requires_grad() || !guard::is_grad_enabled();
        let is_fresh = tensor.dtype() == to && *version == weight.storage().version();
        (is_fresh && is_recorded).then(|| tensor.clone())
    }

    /// Unless all regions ended meanwhile: then nobody would take it away.
    fn keep(&self, weight: &Tensor, cast: Cast) {
        let mut open = lock(&OPEN);
        if open.regions == 0 {
            return;
        }
        let before = lock(&self.0).replace(cast);
        if before.is_none() {
            open.weights.push(weight.clone());
        }
        drop(open);
        drop(before);
    }
}

/// The outermost regions of all threads, and the weights with kept casts.
struct Open {
    regions: usize,
    weights: Vec<Tensor>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { regions: 0, weights: Vec::new() });

/// Nothing is left half done where a thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread enters its outermost region.
pub(crate) fn begin() {
    lock(&OPEN).regions += 1;
}

/// A thread leaves its outermost region.
pub(crate) fn end() {
    lock(&OPEN).regions -= 1;
    clear_cache();
}

/// Forgets all casts that were kept, of all threads. The end of a thread's outermost region does it, too.
///
/// ```
/// dispatch_autocast::clear_cache();
/// ```
pub fn clear_cache() {
    let weights = std::mem::take(&mut lock(&OPEN).weights);
    for weight in weights {
        // A cast is dropped, with all its history, while nothing is locked.
        let cast = weight.extension::<Kept>().and_then(|kept| lock(&kept.0).take());
        drop(cast);
    }
}
