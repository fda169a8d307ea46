//! Autocast: operators that gain from it compute in fewer bits, and those that would lose too much keep single precision.
//!
//! The layer is the key `Autocast`, above autograd: what it casts is recorded, so gradients come back in the dtype of the leaf. It is
//! on for a backend and a thread while a [`Region`] lives, and travels with [`ThreadState`](dispatch_runtime::guard::ThreadState).
//! A call across backends belongs to the highest of them, as everywhere.
//!
//! ```
//! # use kernels_cpu as _;
//! use dispatch_autocast as autocast;
//! use dispatch_runtime::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from([[1.0_f32, 2.0], [3.0, 4.0]]);
//! let _on = autocast::enable(Device::CPU, DType::BF16)?;
//! let product = aten::mm(&x, &x)?;
//! assert_eq!(product.dtype(), DType::BF16);
//! assert_eq!(aten::mse_loss(&product, &product, 1)?.dtype(), DType::F32);
//! assert_eq!(aten::add(&x, &product, 1.into())?.dtype(), DType::F32);      // in no list: promotion decides
//! # Ok(())
//! # }
//! ```
//!
//! What happens to an operator's arguments is its *policy*, one of those of [`autocast!`], or a kernel of its own for `Autocast` that asks
//! [`dtype`], and casts with [`cached_cast`] and [`promote_type`]. Autocast does not change calls of an operator without a policy.
#![forbid(unsafe_code)]

mod autocast_macro;
mod cast_cache;
mod operator_lists;
mod policy;
mod region;

pub use cast_cache::{cached_cast, clear_cache, promote_type};
pub use policy::Banned;
pub use region::{Region, Uncached, default_dtype, disable, dtype, enable, is_enabled, uncached};

/// Not public API: what [`autocast!`] names.
#[doc(hidden)]
pub mod __private {
    pub use crate::policy::{append_dtype, banned, fp32, lower, promote, set_dtype};
    pub use dispatch_macros::__no_policy;
    pub use dispatch_runtime;
}
