//! Construction of a dispatch table from registrations.

use super::cell::{ActiveKernels, Cell, Kernel, KernelRegistration};
use super::resolve::{RegisteredKeys, resolve_slot};
use super::row::OperatorRow;
use crate::key::{KeySet, LAYER_ORDER, Provenance, SLOT_COUNT, Slot, layer_bit};
use crate::operator::{BoxedKernel, CandidateKernel, CodePointer, Operator, SlotKind, Table, TypedAdapters};
use crate::tensor::Marks;

/// The origin of each slot's kernel. Operators with kernels for the same keys share one layout, unless only one of them is aliasing. Most
/// programs have few layouts.
pub(crate) struct TableLayout {
    /// The index in `origins` for each slot.
    slots: [u8; SLOT_COUNT],
    /// The origins, each with the layers in which it has slots.
    origins: Vec<(SlotOrigin, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotOrigin {
    /// A layer without a kernel: calls skip it.
    Skip,
    /// A storage without a kernel, or a slot that two kernels could serve: calls return an error.
    NoKernel,
    /// The fallback of one slot.
    Fallback(Slot),
    /// The kernels in one cell of the operator's row, by the index of the cell.
    Cell(usize),
}

impl TableLayout {
    pub(crate) fn new(row: &OperatorRow, registered_keys: &RegisteredKeys, fallbacks: &[Cell]) -> Self {
        let mut layout = Self { slots: [0; SLOT_COUNT], origins: Vec::new() };
        let is_aliasing = row.is_aliasing();
        for slot in std::iter::once(Slot::UNDEFINED).chain(Slot::all()) {
            let (provenance, target) =
                resolve_slot(registered_keys, fallbacks[slot.index()].has_fallback_for(is_aliasing), slot);
            let is_layer = slot.layer_and_backend().is_some_and(|(layer, _)| !LAYER_ORDER[layer as usize].is_storage());
            let origin = match provenance {
                Provenance::Missing if is_layer => SlotOrigin::Skip,
                Provenance::Missing | Provenance::AmbiguousAutogradOther => SlotOrigin::NoKernel,
                Provenance::BackendFallback => SlotOrigin::Fallback(slot),
                _ => target.and_then(|target| row.cell_index(target)).map_or(SlotOrigin::NoKernel, SlotOrigin::Cell),
            };
            layout.set_origin(slot, origin);
        }
        // Calls without a backend skip every per-backend layer.
        for (layer, _) in (0_u8..).zip(LAYER_ORDER).filter(|(_, layer)| layer.is_per_backend()) {
            layout.set_origin(Slot::for_layer(layer), SlotOrigin::Skip);
        }
        layout
    }

    fn set_origin(&mut self, slot: Slot, origin: SlotOrigin) {
        let at = self.origins.iter().position(|(other, _)| *other == origin).unwrap_or(self.origins.len());
        if at == self.origins.len() {
            self.origins.push((origin, 0));
        }
        self.origins[at].1 |= slot.layer_and_backend().map_or(0, |(layer, _)| layer_bit(layer));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are no more origins than slots, and fewer than 256 slots"
        )]
        let at = at as u8;
        self.slots[slot.index()] = at;
    }
}

/// Makes the table of a row, for calls in which no tensor has one of the `absent` marks.
pub(crate) fn build_table(row: &OperatorRow, layout: &TableLayout, fallbacks: &[Cell], absent: Marks) -> Table {
    let operator = row.definition();
    let adapters = SlotAdapters::from_typed(operator.and_then(Operator::typed_adapters));
    let mut table = Table::new(operator, adapters.slow_path);
    let (mut active_layers, mut unskippable_layers) = (0, 0);
    let mut contents = Vec::with_capacity(layout.origins.len());
    for &(origin, layers) in &layout.origins {
        let marks = fallback_marks(origin, row, fallbacks);
        let (code, kind) = match origin {
            SlotOrigin::Skip => (adapters.slow_path, SlotKind::Skip),
            SlotOrigin::Fallback(_) if marks.is_some_and(|marks| marks.is_subset_of(absent)) => {
                (adapters.slow_path, SlotKind::Skip)
            }
            SlotOrigin::NoKernel => (adapters.slow_path, SlotKind::NoKernel),
            SlotOrigin::Fallback(of) => {
                add_active_kernels(&mut table, &fallbacks[of.index()].active_kernels(), &adapters)
            }
            SlotOrigin::Cell(at) => add_active_kernels(&mut table, &row.active_kernels(row.cells[at].0), &adapters),
        };
        if kind != SlotKind::Skip {
            active_layers |= layers;
            unskippable_layers |= if marks.is_some() { 0 } else { layers };
        }
        contents.push((code, kind));
    }
    // The adapter `run_boxed_unless_skipped` skips a layer on every backend. So it is used only if it may skip all slots of the layer.
    let mut all_marks = None;
    for (&(origin, layers), (code, kind)) in layout.origins.iter().zip(&mut contents) {
        if let (Some(marks), SlotKind::Boxed(_), 0) =
            (fallback_marks(origin, row, fallbacks), kind, layers & unskippable_layers)
        {
            *code = adapters.run_boxed_unless_skipped;
            all_marks = Some(all_marks.map_or(marks, |all| all | marks));
        }
    }
    table.fill_slots(&layout.slots, &contents);
    if let (_, SlotKind::Skip) = table.lookup(KeySet::EMPTY) {
        // Nothing is below the slot for calls without keys.
        table.refuse_calls_without_keys(adapters.slow_path);
    }
    table.restrict_to_layers(active_layers);
    table.set_skippable_layers(active_layers & !unskippable_layers, all_marks);
    table
}

/// Returns the marks that a tensor must have for a fallback to concern the call, if the fallback declares marks.
fn fallback_marks(origin: SlotOrigin, row: &OperatorRow, fallbacks: &[Cell]) -> Option<Marks> {
    match origin {
        SlotOrigin::Fallback(of) => match fallbacks[of.index()].active_kernels() {
            // A fallback for aliases runs for every call that makes views, also if no tensor has a mark.
            ActiveKernels::One(fallback) if fallback.aliasing && row.returns_views() => None,
            ActiveKernels::One(fallback) => fallback.marks,
            _ => None,
        },
        _ => None,
    }
}

/// The operator's adapters, for slots without a kernel of its type.
struct SlotAdapters {
    slow_path: CodePointer,
    run_boxed: CodePointer,
    run_boxed_unless_skipped: CodePointer,
}

impl SlotAdapters {
    fn from_typed(typed: Option<&TypedAdapters>) -> Self {
        let Some(&TypedAdapters { slow_path, run_boxed, run_boxed_unless_skipped, .. }) = typed else {
            return Self {
                slow_path: UNREACHABLE_CODE,
                run_boxed: UNREACHABLE_CODE,
                run_boxed_unless_skipped: UNREACHABLE_CODE,
            };
        };
        Self { slow_path, run_boxed, run_boxed_unless_skipped }
    }
}

fn add_active_kernels(
    table: &mut Table,
    active: &ActiveKernels<'_>,
    adapters: &SlotAdapters,
) -> (CodePointer, SlotKind) {
    match active {
        ActiveKernels::One(one) => add_kernel(table, one, adapters),
        ActiveKernels::Conditional(kernels) => {
            (adapters.slow_path, SlotKind::Conditional(add_candidates(table, kernels, adapters)))
        }
        ActiveKernels::None | ActiveKernels::Conflict(_) => (adapters.slow_path, SlotKind::NoKernel),
    }
}

fn add_kernel(table: &mut Table, registered: &KernelRegistration, adapters: &SlotAdapters) -> (CodePointer, SlotKind) {
    match &registered.kernel {
        Kernel::Typed(code) => (*code, SlotKind::Typed),
        Kernel::Boxed(kernel) => (adapters.run_boxed, SlotKind::Boxed(add_boxed_kernel(table, kernel))),
        Kernel::Fallthrough => (adapters.slow_path, SlotKind::Skip),
    }
}

/// Adds a boxed kernel to the table and returns its index. There are fewer than 256 slots, and at most one boxed kernel per slot: of
/// kernels with conditions, only the default can be boxed.
#[expect(clippy::cast_possible_truncation)]
fn add_boxed_kernel(table: &mut Table, kernel: &BoxedKernel) -> u8 {
    table.boxed.push(kernel.clone());
    (table.boxed.len() - 1) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "as for boxed kernels")]
fn add_candidates(table: &mut Table, kernels: &[&KernelRegistration], adapters: &SlotAdapters) -> u8 {
    let candidate = |kernel: &&KernelRegistration| CandidateKernel {
        contents: add_kernel(table, kernel, adapters),
        condition: kernel.condition,
    };
    let candidates = kernels.iter().map(candidate).collect();
    table.candidates.push(candidates);
    (table.candidates.len() - 1) as u8
}

/// The code in the slots of an operator that was defined at run time. No call jumps to it.
const UNREACHABLE_CODE: CodePointer = {
    fn unreachable_code() {}
    CodePointer::from_fn(unreachable_code as fn())
};
