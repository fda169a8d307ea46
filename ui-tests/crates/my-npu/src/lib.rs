//! A backend of a user's own, in a crate of its own.
#![forbid(unsafe_code)]

use dispatch_runtime::prelude::*;

/// The backend.
#[dispatch_key(backend)]
pub static NPU: Key;

/// Keys in a module, for paths.
pub mod layers {
    use dispatch_runtime::prelude::*;

    /// A layer above autograd.
    #[dispatch_key(layer, above = Autograd)]
    pub static Audit: Key;
}
