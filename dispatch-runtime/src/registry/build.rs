//! From registrations to a table.

use super::row::{Active, Cell, Kernel, Registered, Row};
use crate::boxed::BoxedKernel;
use crate::key::{ORDER, SLOTS, Slot, layer_bit};
use crate::operator::Typed;
use crate::rule::{Direct, Provenance, resolve};
use crate::table::{Choice, Code, Entry, Table};

/// Where the kernel of each slot comes from. Operators with kernels for the same keys share one, and most programs have few.
pub(super) struct Plan([Origin; SLOTS]);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// No key has this slot.
    NoKey,
    /// A layer without a kernel is passed over.
    Nothing,
    /// A storage without a kernel is where a call ends in an error, as is one that two kernels could serve.
    Refused,
    Fallback,
    /// The kernels for one of the row's targets, by their place in the row.
    Cell(u8),
}

impl Plan {
    pub(super) fn new(row: &Row, direct: &Direct, fallbacks: &[Cell]) -> Self {
        let mut origins = [Origin::NoKey; SLOTS];
        for slot in std::iter::once(Slot::UNDEFINED).chain(Slot::all()) {
            let (provenance, target) = resolve(direct, !fallbacks[slot.position()].kernels.is_empty(), slot);
            let is_layer = slot.key().is_some_and(|(layer, _)| !ORDER[layer as usize].is_storage());
            origins[slot.position()] = match provenance {
                Provenance::Missing if is_layer => Origin::Nothing,
                Provenance::Missing | Provenance::AmbiguousAutogradOther => Origin::Refused,
                Provenance::BackendFallback => Origin::Fallback,
                _ => target.and_then(|target| row.position(target)).map_or(Origin::Refused, Origin::Cell),
            };
        }
        Self(origins)
    }
}

/// The table of a row as it stands.
pub(super) fn table(row: &Row, plan: &Plan, fallbacks: &[Cell], typed: Option<Typed>) -> Table {
    let (slow, boxed) = typed.map_or((NO_CODE, NO_CODE), |typed| (typed.slow, typed.boxed));
    let adapters = Adapters { slow, boxed };
    let mut table = Table::new(adapters.slow);
    let cells: Vec<(Code, Entry)> =
        row.cells.iter().map(|(_, cell)| place(&mut table, &cell.active(), &adapters)).collect();
    let mut busy = 0;
    for (slot, origin) in Slot::every().zip(plan.0) {
        let (code, entry) = match origin {
            Origin::NoKey => continue,
            Origin::Nothing => (adapters.slow, Entry::Skip),
            Origin::Refused => (adapters.slow, Entry::Refuse),
            Origin::Fallback => place(&mut table, &fallbacks[slot.position()].active(), &adapters),
            Origin::Cell(at) => cells[usize::from(at)],
        };
        // There is nothing below to fall through to.
        let entry = if slot == Slot::UNDEFINED && entry == Entry::Skip { Entry::Refuse } else { entry };
        table.set(slot, code, entry);
        if entry != Entry::Skip
            && let Some((layer, _)) = slot.key()
        {
            busy |= layer_bit(layer);
        }
    }
    skip_layers_on_no_backend(&mut table, adapters.slow);
    table.keep_layers(busy);
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
