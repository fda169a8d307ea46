//! Construction of a dispatch table from registrations.

use super::cell::{Active, Cell, Kernel, Registered};
use super::resolve::{Direct, resolve};
use super::row::Row;
use crate::key::{KeySet, ORDER, Provenance, SLOTS, Slot, layer_bit};
use crate::operator::{BoxedKernel, Choice, Code, Entry, Operator, Table, Typed};
use crate::tensor::Marks;

/// The origin of each slot's kernel. Operators with kernels for the same keys share one layout, unless only one of them is aliasing. Most
/// programs have few layouts.
pub(crate) struct TableLayout {
    /// The index in `origins` for each slot.
    slots: [u8; SLOTS],
    /// The origins, each with the layers in which it has slots.
    origins: Vec<(Origin, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A layer without a kernel: calls skip it.
    Nothing,
    /// A storage without a kernel, or a slot that two kernels could serve: calls return an error.
    Refused,
    /// The fallback of one slot.
    Fallback(Slot),
    /// The kernels for one of the row's targets, by the index of the cell.
    Cell(usize),
}

impl TableLayout {
    pub(crate) fn new(row: &Row, direct: &Direct, fallbacks: &[Cell]) -> Self {
        let mut layout = Self { slots: [0; SLOTS], origins: Vec::new() };
        let is_aliasing = row.is_aliasing();
        for slot in std::iter::once(Slot::UNDEFINED).chain(Slot::all()) {
            let (provenance, target) = resolve(direct, fallbacks[slot.position()].serves(is_aliasing), slot);
            let is_layer = slot.key().is_some_and(|(layer, _)| !ORDER[layer as usize].is_storage());
            let origin = match provenance {
                Provenance::Missing if is_layer => Origin::Nothing,
                Provenance::Missing | Provenance::AmbiguousAutogradOther => Origin::Refused,
                Provenance::BackendFallback => Origin::Fallback(slot),
                _ => target.and_then(|target| row.position(target)).map_or(Origin::Refused, Origin::Cell),
            };
            layout.set(slot, origin);
        }
        // Calls without a backend skip every layer that is multiplied by backend.
        for (layer, _) in (0_u8..).zip(ORDER).filter(|(_, layer)| layer.is_per_backend()) {
            layout.set(Slot::of_layer(layer), Origin::Nothing);
        }
        layout
    }

    fn set(&mut self, slot: Slot, origin: Origin) {
        let at = self.origins.iter().position(|(other, _)| *other == origin).unwrap_or(self.origins.len());
        if at == self.origins.len() {
            self.origins.push((origin, 0));
        }
        self.origins[at].1 |= slot.key().map_or(0, |(layer, _)| layer_bit(layer));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are no more origins than slots, and fewer than 256 slots"
        )]
        let at = at as u8;
        self.slots[slot.position()] = at;
    }
}

/// Makes the table of a row, for calls in which no tensor has one of the `absent` marks.
pub(crate) fn table(row: &Row, layout: &TableLayout, fallbacks: &[Cell], absent: Marks) -> Table {
    let operator = row.definition();
    let adapters = Adapters::of(operator.and_then(Operator::adapters));
    let mut table = Table::new(operator, adapters.slow);
    let (mut busy, mut stops) = (0, 0);
    let mut filling = Vec::with_capacity(layout.origins.len());
    for &(origin, layers) in &layout.origins {
        let marks = marks(origin, row, fallbacks);
        let (code, entry) = match origin {
            Origin::Nothing => (adapters.slow, Entry::Skip),
            Origin::Fallback(_) if marks.is_some_and(|marks| marks.is_subset_of(absent)) => {
                (adapters.slow, Entry::Skip)
            }
            Origin::Refused => (adapters.slow, Entry::Refuse),
            Origin::Fallback(of) => place(&mut table, &fallbacks[of.position()].active(), &adapters),
            Origin::Cell(at) => place(&mut table, &row.active(row.cells[at].0), &adapters),
        };
        if entry != Entry::Skip {
            busy |= layers;
            stops |= if marks.is_some() { 0 } else { layers };
        }
        filling.push((code, entry));
    }
    // The adapter `marked` skips a layer on every backend. So it is used only if it may skip all slots of the layer.
    let mut all_marks = None;
    for (&(origin, layers), (code, entry)) in layout.origins.iter().zip(&mut filling) {
        if let (Some(marks), Entry::Boxed(_), 0) = (marks(origin, row, fallbacks), entry, layers & stops) {
            *code = adapters.marked;
            all_marks = Some(all_marks.map_or(marks, |all| all | marks));
        }
    }
    table.fill(&layout.slots, &filling);
    if let (_, Entry::Skip) = table.at(KeySet::EMPTY) {
        // Nothing is below the slot for calls without keys.
        table.refuse_without_keys(adapters.slow);
    }
    table.keep_layers(busy);
    table.pass_over(busy & !stops, all_marks);
    table
}

/// Returns the marks that a tensor must have for a fallback to concern the call, if the fallback declares marks.
fn marks(origin: Origin, row: &Row, fallbacks: &[Cell]) -> Option<Marks> {
    match origin {
        Origin::Fallback(of) => match fallbacks[of.position()].active() {
            // A fallback for aliases runs for every call that makes views, also if no tensor has a mark.
            Active::One(fallback) if fallback.aliasing && row.gives_views() => None,
            Active::One(fallback) => fallback.marks,
            _ => None,
        },
        _ => None,
    }
}

/// The operator's adapters, for slots without a kernel of its type.
struct Adapters {
    slow: Code,
    boxed: Code,
    marked: Code,
}

impl Adapters {
    fn of(typed: Option<&Typed>) -> Self {
        let Some(&Typed { slow, boxed, marked, .. }) = typed else {
            return Self { slow: NO_CODE, boxed: NO_CODE, marked: NO_CODE };
        };
        Self { slow, boxed, marked }
    }
}

fn place(table: &mut Table, active: &Active<'_>, adapters: &Adapters) -> (Code, Entry) {
    match active {
        Active::One(one) => place_one(table, one, adapters),
        Active::Choice(kernels) => (adapters.slow, Entry::Choose(place_choices(table, kernels, adapters))),
        Active::None | Active::Conflict(_) => (adapters.slow, Entry::Refuse),
    }
}

fn place_one(table: &mut Table, registered: &Registered, adapters: &Adapters) -> (Code, Entry) {
    match &registered.kernel {
        Kernel::Typed(code) => (*code, Entry::Typed),
        Kernel::Boxed(kernel) => (adapters.boxed, Entry::Boxed(place_boxed(table, kernel))),
        Kernel::Fallthrough => (adapters.slow, Entry::Skip),
    }
}

/// Adds a boxed kernel to the table and returns its index. There are fewer than 256 slots, and at most one boxed kernel per slot: of
/// kernels with conditions, only the default can be boxed.
#[expect(clippy::cast_possible_truncation)]
fn place_boxed(table: &mut Table, kernel: &BoxedKernel) -> u8 {
    table.boxed.push(kernel.clone());
    (table.boxed.len() - 1) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "as for boxed kernels")]
fn place_choices(table: &mut Table, kernels: &[&Registered], adapters: &Adapters) -> u8 {
    let choice =
        |kernel: &&Registered| Choice { filling: place_one(table, kernel, adapters), condition: kernel.condition };
    let choices = kernels.iter().map(choice).collect();
    table.choices.push(choices);
    (table.choices.len() - 1) as u8
}

/// The code in the slots of an operator that was defined while the program runs. No call jumps to it.
const NO_CODE: Code = {
    fn never() {}
    Code::of(never as fn())
};
