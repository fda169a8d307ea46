//! Kernels and fallbacks that record calls in the forward pass.

pub(crate) mod fallback;
pub(crate) mod in_place;
pub(crate) mod record;
pub(crate) mod without_derivative;
pub(crate) mod writing_calls;
