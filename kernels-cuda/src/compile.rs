//! From the text of a kernel to machine code: compilers, and what is kept on disk.

pub(crate) mod ahead_of_time;
pub(crate) mod disk_cache;
pub(crate) mod fingerprint;
pub(crate) mod nvrtc;
pub(crate) mod source;
