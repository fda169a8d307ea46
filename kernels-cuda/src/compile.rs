//! Compilation of kernels: CUDA C++ source to machine code, and the disk cache of compiled code.

pub(crate) mod ahead_of_time;
pub(crate) mod disk_cache;
pub(crate) mod fingerprint;
pub(crate) mod nvrtc;
pub(crate) mod source;
