//! Memory: the CPU's blocks, storages, and the interface through which a backend provides the memory of its devices.

pub(crate) mod backend;
#[allow(unsafe_code, reason = "blocks are allocated, kept and lent again")]
mod caching_allocator;
mod free_callbacks;
#[allow(unsafe_code, reason = "a counted pointer into recycled memory")]
mod shared;
#[allow(unsafe_code, reason = "memory lent by somebody else")]
mod storage;

pub use backend::{Backend, BackendRecord};
pub(crate) use backend::{FOUND, linked};
pub use caching_allocator::OutOfMemory;
pub(crate) use caching_allocator::{ALIGNMENT, Class};
pub use shared::{Shared, Unique};
pub use storage::{Buffer, HostBuffer, Storage};
