//! Memory: the CPU's blocks, storages, and the interface through which a backend provides the memory of its devices.

pub(crate) mod backend;
#[allow(unsafe_code, reason = "allocates, caches and reuses raw blocks")]
mod caching_allocator;
mod free_callbacks;
mod memory_layout;
mod places;
#[allow(unsafe_code, reason = "blocks have places in a larger block")]
mod region;
#[allow(unsafe_code, reason = "a reference-counted pointer into cached blocks")]
mod shared;
#[allow(unsafe_code, reason = "addresses of memory that other code owns")]
mod storage;

pub(crate) use backend::{BACKENDS_BY_KEY, linked_devices};
pub use backend::{Backend, BackendRecord};
pub use caching_allocator::OutOfMemory;
pub(crate) use caching_allocator::{ALIGNMENT, SizeClass};
pub use memory_layout::MemoryLayout;
pub use shared::{Shared, Unique};
pub use storage::{Buffer, HostBuffer, Storage};
