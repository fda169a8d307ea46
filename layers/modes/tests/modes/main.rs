//! Modes: what they see of calls, and the four that there are.

mod calls;
mod flops;
mod memory;
mod profiler;
