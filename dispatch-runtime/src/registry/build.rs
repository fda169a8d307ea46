//! From registrations to a table.

use super::{Active, Cell, Kernel, Registered, Row};
use crate::boxed::BoxedKernel;
use crate::key::{LAYERS, ORDER, Slot};
use crate::operator::Typed;
use crate::rule::{Provenance, resolve};
use crate::table::{Choice, Code, Entry, Table};

/// The table of a row as it stands.
pub(super) fn table(row: &Row, fallbacks: &[Cell], typed: Option<Typed>) -> Table {
    let (slow, boxed) = typed.map_or((NO_CODE, NO_CODE), |typed| (typed.slow, typed.boxed));
    let adapters = Adapters { slow, boxed };
    let direct = row.direct();
    let mut table = Table::new(adapters.slow);
    let mut idle = [true; LAYERS];
    for slot in std::iter::once(Slot::UNDEFINED).chain(Slot::all()) {
        let fallback = &fallbacks[slot.position()];
        let (provenance, target) = resolve(&direct, !fallback.kernels.is_empty(), slot);
        let cell = match provenance {
            Provenance::Missing | Provenance::AmbiguousAutogradOther => None,
            Provenance::BackendFallback => Some(fallback),
            _ => target.and_then(|target| row.cell(target)),
        };
        let active = cell.map_or(Active::None, Cell::active);
        let (code, entry) = place(&mut table, &active, &adapters);
        let layer = slot.key();
        // A layer with nothing to do is passed over. A storage without a kernel is where a call ends in an error.
        let nothing_to_do =
            provenance == Provenance::Missing && layer.is_some_and(|(layer, _)| !ORDER[layer as usize].is_storage());
        let entry = match entry {
            _ if nothing_to_do => Entry::Skip,
            // There is nothing below to fall through to.
            Entry::Skip if slot == Slot::UNDEFINED => Entry::Refuse,
            entry => entry,
        };
        table.set(slot, code, entry);
        if let Some((layer, _)) = layer {
            idle[layer as usize] &= entry == Entry::Skip;
        }
    }
    skip_layers_on_no_backend(&mut table, adapters.slow);
    (0_u8..).zip(idle).filter(|&(_, idle)| idle).for_each(|(layer, _)| table.mask_out(layer));
    table
}

/// The operator's own code for slots that hold no kernel of its type.
struct Adapters {
    slow: Code,
    boxed: Code,
}

fn place(table: &mut Table, active: &Active<'_>, adapters: &Adapters) -> (Code, Entry) {
    match active {
        Active::One(Registered { kernel: Kernel::Typed(code), .. }) => (*code, Entry::Typed),
        Active::One(Registered { kernel: Kernel::Boxed(kernel), .. }) => {
            (adapters.boxed, Entry::Boxed(place_boxed(table, kernel)))
        }
        Active::One(Registered { kernel: Kernel::Fallthrough, .. }) => (adapters.slow, Entry::Skip),
        Active::Choice(kernels) => (adapters.slow, Entry::Choose(place_choices(table, kernels))),
        Active::None | Active::Conflict(_) => (adapters.slow, Entry::Refuse),
    }
}

/// There are no more boxed kernels than slots, and there are fewer than 256 slots.
#[expect(clippy::cast_possible_truncation)]
fn place_boxed(table: &mut Table, kernel: &BoxedKernel) -> u8 {
    table.boxed.push(kernel.clone());
    (table.boxed.len() - 1) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "as for boxed kernels")]
fn place_choices(table: &mut Table, kernels: &[&Registered]) -> u8 {
    let choices = kernels.iter().filter_map(|kernel| match kernel.kernel {
        Kernel::Typed(code) => Some(Choice { kernel: code, condition: kernel.condition }),
        Kernel::Boxed(_) | Kernel::Fallthrough => None,
    });
    let choices = choices.collect();
    table.choices.push(choices);
    (table.choices.len() - 1) as u8
}

/// A layer that is multiplied by backend is nothing in a call without any: what is below it has its turn.
fn skip_layers_on_no_backend(table: &mut Table, slow: Code) {
    for (layer, _) in (0_u8..).zip(ORDER).filter(|(_, layer)| layer.is_per_backend()) {
        table.set(Slot::of_layer(layer), slow, Entry::Skip);
    }
}

/// What stands in the slots of an operator that was defined while the program runs: nobody jumps through its table.
const NO_CODE: Code = {
    fn never() {}
    Code::of(never as fn())
};
