//! `Memory`, the mode that tracks the memory of tensors.

mod counts;

use std::fmt;

use dispatch_runtime::{Device, Name, Result, Tensor, Value};

pub use self::counts::AllocationCounts;
use self::counts::SharedMemoryCounts;
use crate::call::Call;
use crate::mode::Mode;

/// Tracks the memory of all tensors that calls take and return, from allocation until it is freed. It prints as a table.
///
/// A block of memory counts once, even if several tensors share it, and belongs to the innermost call that allocated it. Memory that first
/// appears as an argument belongs to no operator. Tensors on `meta` have no memory.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Memory, enter};
/// use dispatch_runtime::{Result, Tensor};
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1.0_f32; 1000]);
/// let memory = enter(Memory::new());
/// let y = x.exp()?.exp()?;
/// let view = y.view([10, 100])?;
/// assert_eq!((memory.current(), memory.peak()), (8_000, 12_000));
/// drop((y, view));
/// assert_eq!((memory.current(), memory.of_operator("aten::exp").freed), (4_000, 8_000));
/// println!("{}", *memory);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Memory(SharedMemoryCounts);

impl Memory {
    /// Creates a mode that tracks nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many tracked bytes are allocated now. Memory that is freed after the mode has ended is still subtracted.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.0.lock().current
    }

    /// Returns the largest number of tracked bytes that were allocated at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.lock().peak
    }

    /// Returns how much memory the calls of an operator, such as `aten::exp`, allocated.
    #[must_use]
    pub fn of_operator(&self, operator: &str) -> AllocationCounts {
        Name::parse(operator).map(|name| self.0.lock().of_operator(Some(name))).unwrap_or_default()
    }

    fn track_storage(&self, tensor: &Tensor, operator: Option<Name<'static>>) {
        let storage = tensor.storage();
        let (identity, bytes) = (storage.identity(), storage.size() as u64);
        if storage.device() != Device::META && self.0.lock().add_storage(identity, bytes, operator) {
            let counts = self.0.clone();
            storage.when_freed(move || counts.lock().remove_storage(identity, bytes, operator));
        }
    }
}

impl Mode for Memory {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        call.arguments().iter().flat_map(Value::tensors).for_each(|tensor| self.track_storage(tensor, None));
        call.pass_on()?;
        let operator = Some(call.operator().name());
        call.results().iter().flat_map(Value::tensors).for_each(|tensor| self.track_storage(tensor, operator));
        Ok(())
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
