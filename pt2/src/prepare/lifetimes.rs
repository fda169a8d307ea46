//! Lifetimes: the values that an instruction uses last.

use super::{Instruction, Operation, OperatorCall, Output, Slot, Source};

/// Sets, for each instruction, the slots that nothing reads after it. Results of the graph stay.
pub(super) fn set_dead_values(instructions: &mut [Instruction], outputs: &[Source], slots: usize) {
    let mut keep = vec![false; slots];
    let mut mark = |slot: Slot| keep[slot] = true;
    for output in outputs {
        output.for_each_slot(&mut mark);
    }
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
        if let Operation::Call(call) = &mut instruction.operation {
            dead.retain(|slot| !call.take_last_use(*slot));
        }
        instruction.dead_after = dead;
    }
}

impl Instruction {
    /// Calls `f` with each slot that is empty after the instruction.
    pub(crate) fn for_each_emptied_slot(&self, mut f: impl FnMut(Slot)) {
        self.dead_after.iter().copied().for_each(&mut f);
        if let Operation::Call(call) = &self.operation {
            let taken = |source: &Source| if let Source::LastUse(slot) = source { Some(*slot) } else { None };
            call.arguments.iter().filter_map(taken).for_each(f);
        }
    }
}

impl OperatorCall {
    /// Lets the call take the value out of a slot that nothing uses after it, if one argument is the value. Returns whether it does.
    fn take_last_use(&mut self, slot: Slot) -> bool {
        if self.written.iter().any(|(_, written)| *written == slot) {
            return false;
        }
        let mut uses = 0;
        self.arguments.iter().for_each(|source| source.for_each_slot(|read| uses += usize::from(read == slot)));
        let argument = self.arguments.iter_mut().find(|source| matches!(source, Source::Slot(read) if *read == slot));
        match argument {
            Some(argument) if uses == 1 => {
                *argument = Source::LastUse(slot);
                true
            }
            _ => false,
        }
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
