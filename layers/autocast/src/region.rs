//! Regions: scopes in which autocast is on or off for a backend.

use std::cell::Cell;
use std::marker::PhantomData;

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::keys::{CPU, HPU, MAIA, XLA};
use dispatch_runtime::{BadArgument, DType, Device, Key, Result};

use crate::cast_cache;

/// A scope in which autocast is on, or off, for a backend. It ends when this guard is dropped.
///
/// Regions nest, and the innermost region for a backend decides. Casts of weights are kept until a thread's outermost region ends.
///
/// ```
/// use dispatch_autocast as autocast;
/// use dispatch_runtime::{DType, Device};
///
/// # fn main() -> dispatch_runtime::Result<()> {
/// let on = autocast::enable(Device::CPU, DType::F16)?;
/// {
///     let _off = autocast::disable(Device::CPU);
///     assert!(!autocast::is_enabled(Device::CPU));
/// }
/// assert_eq!(autocast::dtype(Device::CPU), Some(DType::F16));
/// drop(on);
/// assert!(!autocast::is_enabled(Device::CPU));
/// # Ok(())
/// # }
/// ```
#[must_use = "a region that is not bound to a name ends at once"]
#[derive(Debug)]
pub struct Region {
    /// The guard that includes or excludes the autocast key on this thread. It ends before the cached casts are dropped, so autocast is off
    /// for code that the drop runs.
    guard: Option<Guard>,
}

thread_local! {
    /// The number of regions that this thread is in.
    static REGION_DEPTH: Cell<usize> = const { Cell::new(0) };
    static CACHE_ENABLED: Cell<bool> = const { Cell::new(true) };
}

impl Region {
    #[track_caller]
    fn enter(device: Device, dtype: Option<DType>) -> Self {
        if REGION_DEPTH.replace(REGION_DEPTH.get() + 1) == 0 {
            cast_cache::enter_outermost_region();
        }
        Self { guard: Some(guard::autocast(device, dtype)) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.guard = None;
        if REGION_DEPTH.replace(REGION_DEPTH.get() - 1) == 1 {
            cast_cache::leave_outermost_region();
        }
    }
}

/// Switches autocast on for the backend of `device`, with `dtype` or, if that is `None`, the backend's [default](default_dtype).
///
/// # Errors
///
/// Returns [`BadArgument`] if the dtype is neither `float16` nor `bfloat16`.
///
/// ```
/// use dispatch_autocast as autocast;
/// use dispatch_runtime::{DType, Device};
///
/// let _on = autocast::enable(Device::CPU, None).unwrap();
/// assert_eq!(autocast::dtype(Device::CPU), Some(DType::BF16));
/// let error = autocast::enable(Device::CPU, DType::F64).unwrap_err();
/// assert!(error.to_string().contains("float16 or bfloat16"), "{error}");
/// ```
#[track_caller]
pub fn enable(device: Device, dtype: impl Into<Option<DType>>) -> Result<Region> {
    match dtype.into().unwrap_or_else(|| default_dtype(device)) {
        dtype @ (DType::F16 | DType::BF16) => Ok(Region::enter(device, Some(dtype))),
        other => Err(BadArgument::dtype("dtype", other, &[DType::F16, DType::BF16])
            .because("they have fewer bits than float32")
            .into()),
    }
}

/// Switches autocast off for the backend of `device`, for a part of a region that needs full precision.
///
/// ```
/// use dispatch_autocast as autocast;
/// use dispatch_runtime::Device;
/// let _precise = autocast::disable(Device::CPU);
/// assert_eq!(autocast::dtype(Device::CPU), None);
/// ```
#[track_caller]
pub fn disable(device: Device) -> Region {
    Region::enter(device, None)
}

/// Returns whether autocast is on for the backend of `device`, on this thread.
///
/// ```
/// assert!(!dispatch_autocast::is_enabled(dispatch_runtime::Device::CPU));
/// ```
#[must_use]
pub fn is_enabled(device: Device) -> bool {
    dtype(device).is_some()
}

/// Returns the dtype to which autocast on the backend of `device` casts, or `None` if autocast is off on this thread.
///
/// ```
/// assert_eq!(dispatch_autocast::dtype(dispatch_runtime::Device::CPU), None);
/// ```
#[must_use]
pub fn dtype(device: Device) -> Option<DType> {
    guard::autocast_dtype(device)
}

/// Returns the dtype that autocast uses on a backend by default, which is PyTorch's.
///
/// ```
/// use dispatch_autocast::default_dtype;
/// use dispatch_runtime::{DType, Device};
/// assert_eq!(default_dtype(Device::CPU), DType::BF16);
/// assert_eq!(default_dtype("cuda:1".parse().unwrap()), DType::F16);
/// ```
#[must_use]
pub fn default_dtype(device: Device) -> DType {
    const BF16_BACKENDS: [Key; 4] = [CPU, XLA, HPU, MAIA];
    if BF16_BACKENDS.contains(&device.key()) { DType::BF16 } else { DType::F16 }
}

/// Switches the cache of casts off on this thread: every call casts its weights anew, until the returned guard is dropped.
///
/// ```
/// let _uncached = dispatch_autocast::disable_cache();
/// ```
pub fn disable_cache() -> CacheDisabledGuard {
    CacheDisabledGuard { was_enabled: CACHE_ENABLED.replace(false), not_send: PhantomData }
}

/// A guard that switches the cache of casts off while it lives; see [`disable_cache`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
#[derive(Debug)]
pub struct CacheDisabledGuard {
    was_enabled: bool,
    /// Makes the guard `!Send`: the switch is a thread-local.
    not_send: PhantomData<*const ()>,
}

impl Drop for CacheDisabledGuard {
    fn drop(&mut self) {
        CACHE_ENABLED.set(self.was_enabled);
    }
}

pub(crate) fn is_cache_enabled() -> bool {
    CACHE_ENABLED.get()
}
