//! The memory of a run: the blocks that its nodes allocate, and when each is free again.

use std::collections::HashMap;
use std::fmt;

use dispatch_runtime::{Tensor, Value, guard};

use super::Program;
use crate::error::Pt2Error;
use crate::inputs::Inputs;
use crate::prepare::{Instruction, Slot};

/// The memory of the values that a run of a program computes, in bytes. A value and its views are one block. Parameters, buffers, inputs,
/// and memory that an operator uses only while it runs are not counted.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_pt2::Program;
/// use dispatch_runtime::Tensor;
///
/// let program = Program::load("tests/programs/mlp.pt2")?;
/// let report = program.memory(Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]))?;
/// assert!(report.peak <= report.total && report.total > 0);
/// # Ok::<(), dispatch_pt2::Pt2Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The number of blocks.
    pub blocks: usize,
    /// The size of all blocks: the memory of a run that frees nothing before its end.
    pub total: usize,
    /// The largest total size of the blocks in use at one time, if each block is freed after its last use.
    pub peak: usize,
}

impl Program {
    /// Runs the program, and reports the memory of the values that it computes. Gradients are not recorded.
    ///
    /// On Meta tensors nothing is computed, so the memory of a large program is known in a moment; its parameters are moved with
    /// [`to(Device::META)`](dispatch_nn::Module::to).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Self::run).
    pub fn memory(&self, inputs: impl Into<Inputs>) -> Result<MemoryReport, Pt2Error> {
        let leaves = self.leaves(inputs)?;
        let mut blocks = Blocks::default();
        // These exist before the run.
        self.state_tensors().for_each(|tensor| blocks.add_existing(tensor));
        leaves.iter().filter_map(Value::as_tensor).for_each(|tensor| blocks.add_existing(tensor));
        let _no_grad = guard::no_grad();
        self.run_observed(leaves, &mut |instruction, slots| blocks.record(instruction, slots))
            .map_err(|problem| self.error(problem))?;
        Ok(blocks.report())
    }
}

/// A block, from the instruction that allocates it to the last one that uses it.
#[derive(Debug, Clone, Copy)]
struct Block {
    size: usize,
    first: usize,
    last: usize,
}

/// The blocks of a run.
#[derive(Default)]
struct Blocks {
    /// The number of instructions so far.
    time: usize,
    all: Vec<Block>,
    /// The blocks in use by the identities of their storages, with the number of slots that use each. `None` is memory from before the run.
    in_use: HashMap<usize, (Option<usize>, usize)>,
    /// The storage of the value in each slot.
    storages: HashMap<Slot, usize>,
}

impl Blocks {
    fn add_existing(&mut self, tensor: &Tensor) {
        self.in_use.insert(tensor.storage().identity(), (None, 1));
    }

    /// Records the blocks after an instruction.
    fn record(&mut self, instruction: &Instruction, slots: &[Value]) {
        for output in &instruction.outputs {
            output.for_each_slot(|slot| {
                if let Some(Value::Tensor(tensor)) = slots.get(slot) {
                    self.add(slot, tensor);
                }
            });
        }
        instruction.for_each_emptied_slot(|slot| self.remove(slot));
        self.time += 1;
    }

    fn add(&mut self, slot: Slot, tensor: &Tensor) {
        let (storage, size) = (tensor.storage().identity(), tensor.storage().size());
        let (time, all) = (self.time, &mut self.all);
        let allocate = || {
            all.push(Block { size, first: time, last: usize::MAX });
            (Some(all.len() - 1), 0)
        };
        self.in_use.entry(storage).or_insert_with(allocate).1 += 1;
        self.storages.insert(slot, storage);
    }

    fn remove(&mut self, slot: Slot) {
        let Some(storage) = self.storages.remove(&slot) else { return };
        let Some((block, uses)) = self.in_use.get_mut(&storage) else { return };
        *uses = uses.saturating_sub(1);
        if *uses > 0 {
            return;
        }
        if let Some(block) = block.and_then(|block| self.all.get_mut(block)) {
            block.last = self.time;
        }
        self.in_use.remove(&storage);
    }

    fn report(self) -> MemoryReport {
        // The changes of the memory in use: a block is free again after the last instruction that uses it.
        let begins = self.all.iter().map(|block| (block.first, true, block.size));
        let ends = self.all.iter().filter(|block| block.last != usize::MAX);
        let mut changes: Vec<_> = begins.chain(ends.map(|block| (block.last + 1, false, block.size))).collect();
        changes.sort_unstable();
        let (mut in_use, mut peak) = (0_usize, 0);
        for (_, is_begin, size) in changes {
            in_use = if is_begin { in_use.saturating_add(size) } else { in_use.saturating_sub(size) };
            peak = peak.max(in_use);
        }
        MemoryReport { blocks: self.all.len(), total: self.all.iter().map(|block| block.size).sum(), peak }
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: usize| format!("{}.{} MiB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20);
        write!(f, "{} blocks of {}; at most {} in use at one time", self.blocks, mib(self.total), mib(self.peak))
    }
}
