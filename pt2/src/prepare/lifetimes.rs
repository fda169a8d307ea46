//! Lifetimes: the values that an instruction uses last.

use super::{Instruction, Operation, Output, Slot, Source};

/// Sets, for each instruction, the slots that nothing reads after it. Results of the graph stay.
pub(super) fn set_dead_values(instructions: &mut [Instruction], outputs: &[Source], slots: usize) {
    let mut keep = vec![false; slots];
    let mut mark = |slot: Slot| keep[slot] = true;
    outputs.iter().for_each(|output| output.for_each_slot(&mut mark));
    for instruction in instructions.iter_mut().rev() {
        let mut dead = Vec::new();
        let mut touch = |slot: Slot| {
            if !keep[slot] {
                keep[slot] = true;
                dead.push(slot);
            }
        };
        instruction.outputs.iter().for_each(|output| output.for_each_slot(&mut touch));
        instruction.operation.for_each_slot(&mut touch);
        instruction.dead_after = dead;
    }
}

impl Output {
    pub(crate) fn for_each_slot(&self, mut f: impl FnMut(Slot)) {
        match self {
            Self::Ignored => {}
            Self::Value(slot) => f(*slot),
            Self::Values(slots) => slots.iter().flatten().copied().for_each(f),
        }
    }
}

impl Operation {
    /// Calls `f` with each slot that the operation reads or writes.
    pub(crate) fn for_each_slot(&self, f: &mut dyn FnMut(Slot)) {
        match self {
            Self::Call(call) => call.arguments.iter().for_each(|source| source.for_each_slot(&mut *f)),
            Self::Python(_, operands) => operands.iter().for_each(|source| source.for_each_slot(&mut *f)),
            Self::HigherOrder(operation) => operation.for_each_slot(f),
        }
    }
}
