//! A user's backend, in its own crate.
#![forbid(unsafe_code)]

use dispatch_runtime::prelude::*;

/// The key of the backend.
#[dispatch_key(backend)]
pub static NPU: Key;

/// A module with a key, for paths with several segments.
pub mod layers {
    use dispatch_runtime::prelude::*;

    /// The key of a layer above autograd.
    #[dispatch_key(layer, above = Autograd)]
    pub static Audit: Key;
}
