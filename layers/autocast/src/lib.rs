//! Autocast: a layer that runs some operators in `float16` or `bfloat16`, and others, which would lose too much precision, in `float32`.
//!
//! The layer is the key `Autocast`, above autograd: autograd records the casts, so gradients have the dtype of the leaf. Autocast is on for
//! a backend and a thread while a [`Region`] lives, and threads inherit it with [`ThreadState`](dispatch_runtime::guard::ThreadState). If
//! the arguments of a call are on several backends, the highest of them decides, as in all other layers.
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
//! An operator's *policy* says what autocast does to its arguments. It is one of the policies of [`autocast!`], or a kernel for the key
//! `Autocast` that reads [`dtype`], and casts with [`cached_cast`] and [`promote_type`]. Autocast does not change calls of an operator
//! without a policy.
#![forbid(unsafe_code)]

mod autocast_macro;
mod cast_cache;
mod operator_lists;
mod policy;
mod region;

pub use cast_cache::{cached_cast, clear_cache, promote_type};
pub use policy::BannedOperator;
pub use region::{CacheDisabledGuard, Region, default_dtype, disable, disable_cache, dtype, enable, is_enabled};

/// Items that the expansion of [`autocast!`] uses. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::__autocast;
    pub use crate::policy::{append_dtype, banned, fp32, lower, promote, set_dtype};
    pub use dispatch_macros::__unknown_policy;
    pub use dispatch_runtime::__private as runtime;
}
