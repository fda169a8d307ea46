//! Where autocast is on.

use std::cell::Cell;
use std::marker::PhantomData;

use dispatch_runtime::guard::{self, Guard};
use dispatch_runtime::keys::{CPU, HPU, MAIA, XLA};
use dispatch_runtime::{BadArgument, DType, Device, Key, Result};

use crate::cast_cache;

/// The part of a program in which autocast is on, or off, for a backend: it ends when this is dropped.
///
/// Regions nest, and the innermost one for a backend counts. Casts of weights are kept until a thread's outermost region ends.
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
    /// Ends before the casts are dropped, so that whatever that runs is outside.
    guard: Option<Guard>,
}

thread_local! {
    /// How many regions this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static CACHES: Cell<bool> = const { Cell::new(true) };
}

impl Region {
    #[track_caller]
    fn enter(device: Device, dtype: Option<DType>) -> Self {
        if DEPTH.replace(DEPTH.get() + 1) == 0 {
            cast_cache::begin();
        }
        Self { guard: Some(guard::autocast(device, dtype)) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.guard = None;
        if DEPTH.replace(DEPTH.get() - 1) == 1 {
            cast_cache::end();
        }
    }
}

/// Switches autocast on for the backend of `device`, with this dtype or the backend's [default](default_dtype).
///
/// # Errors
///
/// Where the dtype is neither `float16` nor `bfloat16`.
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

/// Switches autocast off for the backend of `device`: a part of a region that needs its precision.
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

/// Whether autocast is on for the backend of `device`, on this thread.
///
/// ```
/// assert!(!dispatch_autocast::is_enabled(dispatch_runtime::Device::CPU));
/// ```
#[must_use]
pub fn is_enabled(device: Device) -> bool {
    dtype(device).is_some()
}

/// The dtype that autocast is on with for the backend of `device`, on this thread.
///
/// ```
/// assert_eq!(dispatch_autocast::dtype(dispatch_runtime::Device::CPU), None);
/// ```
#[must_use]
pub fn dtype(device: Device) -> Option<DType> {
    guard::autocast_dtype(device)
}

/// The dtype that a backend's autocast has unless another is named, which is PyTorch's.
///
/// ```
/// use dispatch_autocast::default_dtype;
/// use dispatch_runtime::{DType, Device};
/// assert_eq!(default_dtype(Device::CPU), DType::BF16);
/// assert_eq!(default_dtype("cuda:1".parse().unwrap()), DType::F16);
/// ```
#[must_use]
pub fn default_dtype(device: Device) -> DType {
    const IN_BF16: [Key; 4] = [CPU, XLA, HPU, MAIA];
    if IN_BF16.contains(&device.key()) { DType::BF16 } else { DType::F16 }
}

/// Casts are not kept meanwhile, on this thread: every call casts its weights anew.
///
/// ```
/// let _uncached = dispatch_autocast::uncached();
/// ```
pub fn uncached() -> Uncached {
    Uncached { before: CACHES.replace(false), not_send: PhantomData }
}

/// Until it is dropped, casts are not kept, see [`uncached`].
#[must_use = "a guard that is not bound to a name is dropped at once"]
#[derive(Debug)]
pub struct Uncached {
    before: bool,
    /// Whether casts are kept is the thread's own affair.
    not_send: PhantomData<*const ()>,
}

impl Drop for Uncached {
    fn drop(&mut self) {
        CACHES.set(self.before);
    }
}

pub(crate) fn caches() -> bool {
    CACHES.get()
}
