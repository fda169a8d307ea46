//! Devices: the driver, the emulator, streams, events and memory.

pub(crate) mod caching_allocator;
pub(crate) mod driver;
#[cfg(feature = "emulator")]
pub(crate) mod emulator;
pub(crate) mod event;
pub(crate) mod fault;
pub(crate) mod gpu;
pub(crate) mod memory;
pub(crate) mod nvidia;
pub(crate) mod pinned_memory;
pub(crate) mod recent_launches;
pub(crate) mod stream;
pub(crate) mod stream_uses;
