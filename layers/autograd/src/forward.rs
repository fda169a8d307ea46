//! Kernels and fallbacks that record calls in the forward pass.

pub(crate) mod fallback;
pub(crate) mod in_place;
pub(crate) mod missing_derivative;
pub(crate) mod record;
pub(crate) mod writing_calls;
