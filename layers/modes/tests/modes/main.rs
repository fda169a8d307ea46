//! Tests of modes: the calls that they see, and the modes of this crate.

mod calls;
mod flops;
mod memory;
mod profiler;
