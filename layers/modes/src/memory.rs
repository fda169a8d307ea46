//! The mode that follows memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dispatch_runtime::{Device, Name, Result, Tensor, Value};

use crate::call::Call;
use crate::mode::Mode;
use crate::table;

/// Follows the memory of all tensors that calls take and give, from where it is made to where it is freed. It prints as a table.
///
/// Memory counts once, however many tensors show it, and belongs to the innermost call that made it. What was there before it came as an
/// argument belongs to no operator. Shapes on `meta` have none.
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
/// let view = y.view(&[10, 100])?;
/// assert_eq!((memory.current(), memory.peak()), (8_000, 12_000));
/// drop((y, view));
/// assert_eq!((memory.current(), memory.of("aten::exp").freed), (4_000, 8_000));
/// println!("{}", *memory);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Memory {
    tally: Arc<Mutex<Tally>>,
}

#[derive(Default)]
struct Tally {
    /// The identities of what lives.
    alive: BTreeSet<usize>,
    /// None is what no operator made.
    by: BTreeMap<Option<Name<'static>>, Made>,
    current: u64,
    peak: u64,
}

/// What one operator made.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_modes::{Made, Memory, enter};
/// use dispatch_runtime::Tensor;
///
/// let memory = enter(Memory::new());
/// Tensor::from([1.0_f32, 2.0]).exp().unwrap();
/// assert_eq!(memory.of("aten::exp"), Made { blocks: 1, bytes: 8, freed: 8 });
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Made {
    /// How many blocks of memory.
    pub blocks: u64,
    /// How many bytes they had in all.
    pub bytes: u64,
    /// How many of these bytes were freed.
    pub freed: u64,
}

impl Memory {
    /// Nothing was followed yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes live now. It stays right when the mode is over, as to what was made before.
    #[must_use]
    pub fn current(&self) -> u64 {
        lock(&self.tally).current
    }

    /// How many bytes lived at most at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        lock(&self.tally).peak
    }

    /// What an operator, such as `aten::exp`, made.
    #[must_use]
    pub fn of(&self, operator: &str) -> Made {
        lock(&self.tally).by.get(&Name::parse(operator)).copied().unwrap_or_default()
    }

    fn follow(&self, tensor: &Tensor, maker: Option<Name<'static>>) {
        let storage = tensor.storage();
        let (identity, bytes) = (storage.identity(), storage.size() as u64);
        let mut tally = lock(&self.tally);
        if storage.device() == Device::META || !tally.alive.insert(identity) {
            return;
        }
        let made = tally.by.entry(maker).or_default();
        (made.blocks, made.bytes) = (made.blocks + 1, made.bytes + bytes);
        tally.current += bytes;
        tally.peak = tally.peak.max(tally.current);
        drop(tally);
        let tally = self.tally.clone();
        storage.when_freed(move || {
            let mut tally = lock(&tally);
            tally.alive.remove(&identity);
            tally.by.entry(maker).or_default().freed += bytes;
            tally.current -= bytes;
        });
    }
}

impl Mode for Memory {
    fn on_op(&self, call: &mut Call<'_>) -> Result<()> {
        call.arguments().iter().for_each(|value| tensors(value, &mut |tensor| self.follow(tensor, None)));
        call.pass_on()?;
        let maker = Some(call.operator().name());
        call.results().iter().for_each(|value| tensors(value, &mut |tensor| self.follow(tensor, maker)));
        Ok(())
    }
}

fn lock(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tensors(value: &Value, f: &mut dyn FnMut(&Tensor)) {
    match value {
        Value::Tensor(tensor) => f(tensor),
        Value::Tensors(tensors) => tensors.iter().for_each(f),
        Value::OptionalTensors(tensors) => tensors.iter().flatten().for_each(f),
        _ => {}
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (current, peak, mut by) = {
            let tally = lock(&self.tally);
            (tally.current, tally.peak, tally.by.iter().map(|(name, made)| (*name, *made)).collect::<Vec<_>>())
        };
        by.sort_by_key(|(_, made)| std::cmp::Reverse(made.bytes));
        let bytes = |bytes| table::scaled(bytes, "B");
        let rows = by.into_iter().map(|(maker, Made { blocks, bytes: made, freed })| {
            let maker = maker.map_or_else(|| "no operator".to_owned(), |name| name.to_string());
            vec![maker, blocks.to_string(), bytes(made), bytes(freed), bytes(made - freed)]
        });
        table::write(f, &["made by", "blocks", "bytes", "freed", "alive"], &rows.collect::<Vec<_>>())?;
        write!(f, "\n{} alive, {} at most", bytes(current), bytes(peak))
    }
}
