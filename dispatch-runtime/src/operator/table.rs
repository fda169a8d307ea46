//! Dispatch tables: the code of each slot of one operator.
//!
//! A table is made once, published through one atomic pointer, and never changed or freed. So a caller that loaded a table may use it at
//! any later time. Every slot holds callable code, so a call needs no check. An operator that was not called yet points at a table with an
//! empty mask and one slot. The code of that slot binds the operator.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Operator;
use super::kernel::BoxedKernel;
use crate::key::{KeySet, LAYER_BITS, SLOT_COUNT, Slot, highest_bit, layer_bit, slot_index, slot_index_from_highest};
use crate::tensor::Marks;

/// A pointer to a function, without its type. The operator knows the type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct CodePointer(NonNull<()>);

// SAFETY: the pointer points to code.
unsafe impl Send for CodePointer {}
// SAFETY: the pointer points to code.
unsafe impl Sync for CodePointer {}

impl CodePointer {
    /// Makes a `CodePointer` from a function pointer. It reads through a pointer, because `transmute_copy` would check alignment for every
    /// operator.
    pub(crate) const fn from_fn<F: Copy>(function: F) -> Self {
        const { assert!(size_of::<F>() == size_of::<*const ()>(), "an operator's code is a function pointer") }
        // SAFETY: the sizes agree; the callers, all generated, pass function pointers, which are never null.
        Self(unsafe { (&raw const function).cast::<NonNull<()>>().read() })
    }

    /// Returns the function pointer with its type.
    ///
    /// # Safety
    ///
    /// The code was made from an `F`.
    #[inline(always)]
    pub(crate) const unsafe fn to_fn<F: Copy>(self) -> F {
        const { assert!(size_of::<F>() == size_of::<*const ()>(), "an operator's code is a function pointer") }
        // SAFETY: the sizes agree, and the caller vouches for the type.
        unsafe { (&raw const self.0).cast::<F>().read() }
    }
}

/// The first fields of every table. The table of an unbound operator has no others.
#[derive(Debug)]
#[repr(C)]
pub struct TableHeader {
    /// The layers that do not fall through for this operator, and all backends.
    mask: u64,
    is_bound: bool,
    operator: Option<&'static Operator>,
    first_slot: CodePointer,
}

impl TableHeader {
    /// Makes the table of an unbound operator: calls with any keys run `bind`.
    #[doc(hidden)]
    #[must_use]
    pub const fn unbound(operator: Option<&'static Operator>, bind: CodePointer) -> Self {
        Self { mask: 0, is_bound: false, operator, first_slot: bind }
    }
}

/// The table of a bound operator.
#[derive(PartialEq)]
#[repr(C)]
pub(crate) struct Table {
    mask: u64,
    is_bound: bool,
    operator: Option<&'static Operator>,
    slots: [CodePointer; SLOT_COUNT],
    pub(crate) kinds: [SlotKind; SLOT_COUNT],
    pub(crate) boxed: Vec<BoxedKernel>,
    pub(crate) candidates: Vec<Vec<CandidateKernel>>,
    /// The layers that typed calls skip, on every backend, if no tensor has one of `marks`.
    skippable_layers: u64,
    pub(crate) marks: Option<Marks>,
}

/// The kind of a slot. Calls that do more than jump to the slot's code read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SlotKind {
    /// A kernel with the operator's signature.
    Typed,
    /// A boxed kernel, by its index in the table's `boxed`. The slot holds the operator's adapter.
    Boxed(u8),
    /// The first of several kernels whose condition holds, by the index of the list in the table's `candidates`.
    Conditional(u8),
    /// No kernel: the call continues below this slot.
    Skip,
    /// No kernel: the call returns an error. The reason is determined when the error is made.
    NoKernel,
}

/// One of several kernels for a slot.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct CandidateKernel {
    /// The contents of the slot if this were its only kernel.
    pub(crate) contents: (CodePointer, SlotKind),
    pub(crate) condition: Option<super::kernel::Condition>,
}

/// A published table, bound or unbound. Every kernel gets the table of its call.
#[derive(Clone, Copy, Debug)]
pub struct TableRef(NonNull<TableHeader>);

impl TableRef {
    /// Makes the reference to a table from the pointer to its header.
    ///
    /// # Safety
    ///
    /// `header` points to a `TableHeader` or to the beginning of a `Table`, and lives as long as the program.
    #[inline(always)]
    pub(crate) const unsafe fn new(header: NonNull<TableHeader>) -> Self {
        Self(header)
    }

    /// Returns the code that a call with these keys runs.
    #[inline(always)]
    pub(crate) fn code(self, keys: KeySet) -> CodePointer {
        let header = self.0.as_ptr();
        // SAFETY: both kinds of table begin with a mask. The slots begin at the same offset in both, and `index` stays in bounds: it is
        // below `SLOT_COUNT` for a bound table, and 0 for an unbound one, whose mask leaves no key.
        unsafe {
            let slot = slot_index(keys.bits() & (*header).mask);
            *(&raw const (*header).first_slot).add(slot)
        }
    }

    /// Returns the operator of this table.
    ///
    /// # Safety
    ///
    /// The operator has types.
    #[inline(always)]
    pub(crate) unsafe fn operator(self) -> &'static Operator {
        // SAFETY: both kinds of table begin with a `TableHeader`. The caller guarantees that the operator has types. The head of such an
        // operator names it, and `bind` names it in its tables.
        unsafe { (*self.0.as_ptr()).operator.unwrap_unchecked() }
    }

    /// Returns the whole table, if the operator is bound.
    #[inline]
    pub(crate) fn as_bound(self) -> Option<&'static Table> {
        // SAFETY: both kinds of table begin with a `TableHeader`; only a `Table` has `is_bound` set; tables are never freed.
        unsafe { (*self.0.as_ptr()).is_bound.then(|| self.0.cast::<Table>().as_ref()) }
    }
}

impl Table {
    /// Makes a table in which every slot returns the error of a missing kernel. `fill_slots` replaces the slots.
    pub(crate) fn new(operator: Option<&'static Operator>, refuse: CodePointer) -> Self {
        Self {
            mask: !0,
            is_bound: true,
            operator,
            slots: [refuse; SLOT_COUNT],
            kinds: [SlotKind::NoKernel; SLOT_COUNT],
            boxed: Vec::new(),
            candidates: Vec::new(),
            skippable_layers: 0,
            marks: None,
        }
    }

    /// Fills every slot with the element of `contents` whose index is in `contents_of_slot`.
    pub(crate) fn fill_slots(&mut self, contents_of_slot: &[u8; SLOT_COUNT], contents: &[(CodePointer, SlotKind)]) {
        for ((slot, kind), &contents_of_slot) in self.slots.iter_mut().zip(&mut self.kinds).zip(contents_of_slot) {
            (*slot, *kind) = contents[usize::from(contents_of_slot)];
        }
    }

    /// Makes calls without keys return an error.
    pub(crate) fn refuse_calls_without_keys(&mut self, refuse: CodePointer) {
        let slot = Slot::UNDEFINED.index();
        (self.slots[slot], self.kinds[slot]) = (refuse, SlotKind::NoKernel);
    }

    /// Makes calls skip all layers except these, as if their keys did not contain the others.
    pub(crate) fn restrict_to_layers(&mut self, layers: u64) {
        self.mask = layers | !LAYER_BITS;
    }

    /// Makes typed calls skip these layers if no tensor has one of these marks.
    pub(crate) fn set_skippable_layers(&mut self, layers: u64, marks: Option<Marks>) {
        (self.skippable_layers, self.marks) = (layers, marks);
    }

    /// Returns the code and the kind of the slot for these keys.
    #[inline]
    pub(crate) fn lookup(&self, keys: KeySet) -> (CodePointer, SlotKind) {
        let slot = slot_index(keys.bits() & self.mask);
        (self.slots[slot], self.kinds[slot])
    }

    /// Returns the slot for these keys, with its code and its kind.
    pub(crate) fn lookup_slot(&self, keys: KeySet) -> (Slot, CodePointer, SlotKind) {
        let (code, kind) = self.lookup(keys);
        (Slot::from_key_bits(keys.bits() & self.mask), code, kind)
    }

    /// Returns the code and the keys of a call that skips all layers that it may skip. The keys are those below the last skipped layer.
    #[inline(always)]
    pub(crate) fn lookup_below_skipped(&self, keys: KeySet) -> (CodePointer, KeySet) {
        let masked = keys.bits() & self.mask;
        let stop = highest_bit(masked & !self.skippable_layers);
        let skipped = masked & self.skippable_layers & (!1 << stop);
        let left = keys.bits() & skipped.wrapping_sub(1) & !skipped;
        (self.slots[slot_index_from_highest(stop, left)], KeySet::from_bits(left))
    }

    /// Returns the code and the keys of a typed call that skips layers, or `None` if a tensor has one of the marks or no layer can be
    /// skipped.
    #[inline(always)]
    pub(crate) fn lookup_below_skipped_unless_marked(
        &self,
        keys: KeySet,
        has_any_mark: impl FnOnce(Marks) -> bool,
    ) -> Option<(CodePointer, KeySet)> {
        if has_any_mark(self.marks?) { None } else { Some(self.lookup_below_skipped(keys)) }
    }

    /// Returns the marks for which a typed call must not skip this slot, or `None` if typed calls never skip it.
    pub(crate) fn marks_that_prevent_skip(&self, slot: Slot) -> Option<Marks> {
        self.marks.filter(|_| slot.layer().is_some_and(|layer| self.skippable_layers & layer_bit(layer) != 0))
    }

    /// Returns the keys of a call that skips `slot` and continues below it.
    pub(crate) fn keys_below(keys: KeySet, slot: Slot) -> KeySet {
        slot.layer().map_or(KeySet::EMPTY, |layer| KeySet::from_bits(keys.bits() & (layer_bit(layer) - 1)))
    }

    /// Leaks the table, so that it lives as long as the program.
    pub(crate) fn leak(self) -> &'static Self {
        Box::leak(Box::new(self))
    }

    /// Returns the pointer under which the table is published.
    pub(crate) const fn header(&'static self) -> NonNull<TableHeader> {
        NonNull::from_ref(self).cast()
    }

    /// Returns the table in the form that calls use.
    pub(crate) const fn table_ref(&'static self) -> TableRef {
        TableRef(self.header())
    }
}

/// A version of the registrations. It changes when kernels or fallbacks are added or removed after a call has used them.
///
/// A cache of data derived from a table stores [`Operator::table_version`], read *before* the data. It computes the data again if the
/// version has changed. Rules are not part of the version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableVersion(usize);

impl TableVersion {
    pub(crate) fn current() -> Self {
        Self(CURRENT_VERSION.load(Ordering::Acquire))
    }
}

/// The current [`TableVersion`]: the number of times that an operator's table was withdrawn.
static CURRENT_VERSION: AtomicUsize = AtomicUsize::new(0);

/// Increments the current [`TableVersion`]. Call this after an operator's table was withdrawn.
pub(crate) fn increment_table_version() {
    CURRENT_VERSION.fetch_add(1, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::mem::offset_of;
    use std::num::NonZero;

    fn placeholder_code() {}

    #[test]
    fn bound_and_unbound_tables_have_the_same_header() {
        assert_eq!(offset_of!(TableHeader, mask), offset_of!(Table, mask));
        assert_eq!(offset_of!(TableHeader, is_bound), offset_of!(Table, is_bound));
        assert_eq!(offset_of!(TableHeader, operator), offset_of!(Table, operator));
        assert_eq!(offset_of!(TableHeader, first_slot), offset_of!(Table, slots));
    }

    proptest! {
        #[test]
        fn every_call_of_an_unbound_operator_binds_it(bits in any::<u64>()) {
            static UNBOUND: TableHeader = TableHeader::unbound(None, CodePointer::from_fn(placeholder_code as fn()));
            // SAFETY: a static head.
            let table = unsafe { TableRef::new(NonNull::from(&UNBOUND)) };
            prop_assert_eq!(table.code(KeySet::from_bits(bits)), CodePointer::from_fn(placeholder_code as fn()));
            prop_assert!(table.as_bound().is_none());
        }

        #[test]
        fn lookups_through_the_pointer_and_through_the_table_agree(bits in any::<u64>(), layer in 0..48_u8) {
            let mut table = Table::new(None, CodePointer::from_fn(placeholder_code as fn()));
            let contents_of_slot = std::array::from_fn(|slot| u8::try_from(slot).unwrap());
            let code = |slot| CodePointer(NonNull::without_provenance(NonZero::new(slot + 1).unwrap()));
            table.fill_slots(&contents_of_slot, &(0..SLOT_COUNT).map(|slot| (code(slot), SlotKind::Typed)).collect::<Vec<_>>());
            table.restrict_to_layers(!layer_bit(layer));
            let keys = KeySet::from_bits(bits);
            let (_, code, _) = table.lookup_slot(keys);
            // SAFETY: the table outlives its use here.
            let published = unsafe { TableRef::new(NonNull::from(&table).cast()) };
            prop_assert_eq!(published.code(keys), code);
        }

        #[test]
        fn skipping_layers_at_once_equals_skipping_them_one_by_one(bits: u64, layers: u64, skippable_layers: u64) {
            let mut table = Table::new(None, CodePointer::from_fn(placeholder_code as fn()));
            let contents_of_slot = std::array::from_fn(|slot| u8::try_from(slot).unwrap());
            let code = |slot| CodePointer(NonNull::without_provenance(NonZero::new(slot + 1).unwrap()));
            table.fill_slots(&contents_of_slot, &(0..SLOT_COUNT).map(|slot| (code(slot), SlotKind::Typed)).collect::<Vec<_>>());
            table.restrict_to_layers(layers & LAYER_BITS);
            let skippable_layers = layers & skippable_layers & LAYER_BITS;
            table.set_skippable_layers(skippable_layers, None);

            let mut left = KeySet::from_bits(bits);
            let code = loop {
                let (slot, code, _) = table.lookup_slot(left);
                match slot.layer() {
                    Some(layer) if skippable_layers & layer_bit(layer) != 0 => left = Table::keys_below(left, slot),
                    _ => break code,
                }
            };
            prop_assert_eq!(table.lookup_below_skipped(KeySet::from_bits(bits)), (code, left));
        }
    }
}
